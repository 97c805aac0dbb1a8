import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError } from '../node/config.ts'
import { listenProblem } from './listen-problem.ts'

test('the error for an unusable HOST names it, whatever the system reports', () => {
  for (const code of ['EADDRNOTAVAIL', 'EINVAL', 'EAFNOSUPPORT', 'ENOTFOUND', 'EAI_AGAIN']) {
    const error = Object.assign(new Error('listen'), { code })
    const problem = listenProblem({ host: '::', port: 8080 }, error)
    assert.ok(problem instanceof ConfigError, code)
    assert.deepEqual(problem.problems, ['HOST: "::" is no address of this machine'])
  }
})
