/** Types for the tests. The module itself must run on a Node without TypeScript support. */
interface LockedPackage {
  readonly version?: string
  readonly optional?: boolean
  readonly os?: string | readonly string[]
  readonly cpu?: string | readonly string[]
  readonly optionalDependencies?: Readonly<Record<string, string>>
}
type LockedPackages = Readonly<Record<string, LockedPackage>>

export function isInstalled(root: string): boolean
export function missing(
  wanted: LockedPackages,
  installed: LockedPackages,
  machine: { platform: string; arch: string },
): string[]
