/** Preloaded into the program that `becomeNode` starts. Ties it to its launcher. */
import { tie } from './runtime.mjs'

tie()
