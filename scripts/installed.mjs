/**
 * Checks whether the packages pinned by the lockfile are installed. Reads npm's own records, so any
 * `npm ci` counts.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Compares package-lock.json with npm's record in node_modules. */
export function isInstalled(root) {
  const wanted = packagesOf(join(root, 'package-lock.json'))
  const installed = packagesOf(join(root, 'node_modules/.package-lock.json'))
  return wanted !== null && installed !== null && missing(wanted, installed, process).length === 0
}

/**
 * The paths of packages that are missing or have another version. Optional packages count only if
 * the root depends on them (PostgreSQL, Node) and they fit this machine.
 */
export function missing(wanted, installed, { platform, arch }) {
  const chosen = wanted['']?.optionalDependencies ?? {}
  return Object.entries(wanted).flatMap(([path, { version, optional, os, cpu }]) => {
    if (path === '') return []
    const found = installed[path]
    if (found !== undefined) return found.version === version ? [] : [path]
    const isChosen = Object.hasOwn(chosen, path.replace('node_modules/', ''))
    return optional && !(isChosen && fits(os, platform) && fits(cpu, arch)) ? [] : [path]
  })
}

function packagesOf(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages
  } catch {
    return null // A missing or truncated record means that nothing is installed.
  }
}

function fits(list, value) {
  return list === undefined || [list].flat().includes(value)
}
