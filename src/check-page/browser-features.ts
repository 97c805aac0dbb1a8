/**
 * What a browser that only loads a page does without.
 *
 * Of two such flags Chromium takes the last, so what the driver turns off is named here again.
 */
const FEATURES_OFF = [
  // Pages of the address bar, two for each window: half of what a window costs.
  ...['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup'],
  // The driver's.
  ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'HttpsUpgrades'],
  ...['HttpsFirstBalancedModeAutoEnable', 'LensOverlay', 'MediaRouter', 'PaintHolding'],
  ...['ThirdPartyStoragePartitioning', 'AvoidCorsURLLoaderRestartOnRedirect'],
  ...['TcpPortRandomizationWin', 'OptimizationHints', 'NetworkTimeServiceQuerying'],
  ...['AimEnabled', 'PreconnectToSearch'],
]

export const WITHOUT_FEATURES = `--disable-features=${FEATURES_OFF}`
