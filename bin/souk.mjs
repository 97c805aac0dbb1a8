#!/usr/bin/env node
/** `souk <command>`: goes on under the pinned Node when the one that started it is older. */
import { fileURLToPath } from 'node:url'
import { becomeNode, endWithParent, isBestNode, isRunByNpx } from '../scripts/runtime.mjs'

const isTied = isRunByNpx()
if (isBestNode()) {
  if (isTied) endWithParent()
  await import('../src/cli/souk.ts')
} else {
  becomeNode([fileURLToPath(import.meta.url), ...process.argv.slice(2)], { isTied })
}
