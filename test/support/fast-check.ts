/**
 * fast-check for every property test, set to use the whole range that `maxLength` allows.
 *
 * By default fast-check creates lists, texts and buffers of about ten elements, whatever length is
 * allowed.
 */
import fc from 'fast-check'

fc.configureGlobal({ defaultSizeToMaxWhenMaxSpecified: true })

export default fc
