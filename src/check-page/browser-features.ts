/**
 * Features that a browser for loading a page does not need.
 *
 * Chromium uses only the last of two such flags, so the list repeats what the driver turns off.
 */
const FEATURES_OFF = [
  // Pages of the address bar, two per window: half of a window's cost.
  ...['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup'],
  // The driver's own list.
  ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'HttpsUpgrades'],
  ...['HttpsFirstBalancedModeAutoEnable', 'LensOverlay', 'MediaRouter', 'PaintHolding'],
  ...['ThirdPartyStoragePartitioning', 'AvoidCorsURLLoaderRestartOnRedirect'],
  ...['TcpPortRandomizationWin', 'OptimizationHints', 'NetworkTimeServiceQuerying'],
  ...['AimEnabled', 'PreconnectToSearch'],
]

export const WITHOUT_FEATURES = `--disable-features=${FEATURES_OFF}`
