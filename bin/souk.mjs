#!/usr/bin/env node
/** `souk <command>`: goes on under the pinned Node when the one that started it is older. */
import { fileURLToPath } from 'node:url'
import { becomeNode, endWithLauncher, isBestNode } from '../scripts/runtime.mjs'

if (isBestNode()) {
  endWithLauncher()
  await import('../src/cli.ts')
} else {
  becomeNode([fileURLToPath(import.meta.url), ...process.argv.slice(2)])
}
