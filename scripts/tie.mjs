/** Loaded before the program that `becomeNode` starts: ties it to its launcher. */
import { tie } from './runtime.mjs'

tie()
