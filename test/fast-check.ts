/**
 * fast-check as every property test takes it: what a test allows by `maxLength` also comes.
 *
 * By itself fast-check makes lists, texts and buffers of ten elements or so, whatever length they
 * are allowed.
 */
import fc from 'fast-check'

fc.configureGlobal({ defaultSizeToMaxWhenMaxSpecified: true })

export default fc
