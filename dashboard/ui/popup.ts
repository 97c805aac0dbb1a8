/** Class names of everything that opens above the page, so that all of it looks alike. */

/** A floating box. */
export const POPUP =
  'z-30 rounded-lg border border-line bg-panel text-ink shadow-lg shadow-black/10 outline-none dark:shadow-black/40'

/** A line in a menu or a list of options. */
export const ITEM =
  'flex min-h-9 cursor-default items-center gap-2 rounded-md px-2.5 py-1.5 text-sm outline-none select-none data-disabled:text-soft data-highlighted:bg-tint data-highlighted:text-accent'

/** A heading among such lines. */
export const GROUP_LABEL = 'px-2.5 pt-2 pb-1 text-xs font-medium text-soft select-none'

export const BACKDROP =
  'fixed inset-0 z-20 bg-black/30 transition-opacity duration-150 data-ending-style:opacity-0 data-starting-style:opacity-0 dark:bg-black/60'
