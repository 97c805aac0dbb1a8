/** A tiny MaxMind country database, built by hand: a tree of address bits, data, a description. */

/**
 * IPv4 blocks, each with its country, `{ '203.0.113.0/24': 'US' }`, or with other data of such a
 * database.
 */
export function makeGeoip(blocks: Readonly<Record<string, string | object>>): Buffer {
  const nodes: [Child, Child][] = [[null, null]]
  const data: Buffer[] = []
  let dataBytes = 0
  for (const [block, said] of Object.entries(blocks)) {
    const record = encode(typeof said === 'object' ? said : { country: { iso_code: said } })
    insert(nodes, block, { at: dataBytes })
    data.push(record)
    dataBytes += record.length
  }
  const tree = Buffer.concat(nodes.map((node) => Buffer.concat(node.map((c) => child(c, nodes)))))
  const description = encode({
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1,
    database_type: 'Test-Country',
    description: { en: 'test' },
    ip_version: 4,
    node_count: nodes.length,
    record_size: RECORD_BITS,
  })
  const mark = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1')
  return Buffer.concat([tree, Buffer.alloc(SEPARATOR_BYTES), ...data, mark, description])
}

const RECORD_BITS = 24
const SEPARATOR_BYTES = 16

/** Null: unknown; a number: the next node; otherwise the offset of a block's data. */
type Child = null | number | { readonly at: number }

function insert(nodes: [Child, Child][], block: string, leaf: { at: number }): void {
  const [address = '', bits] = block.split('/')
  const number = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
  let node = 0
  for (let bit = 0; bit < Number(bits); bit += 1) {
    const side = (number >>> (31 - bit)) & 1
    const here = nodes[node] as [Child, Child]
    if (bit === Number(bits) - 1) {
      here[side] = leaf
    } else {
      const next = here[side]
      node = typeof next === 'number' ? next : nodes.push([null, null]) - 1
      here[side] = node
    }
  }
}

function child(value: Child, { length }: readonly unknown[]): Buffer {
  const bytes = Buffer.alloc(RECORD_BITS / 8)
  const number = value === null ? length : typeof value === 'number' ? value : undefined
  const at = typeof value === 'object' && value !== null ? value.at : 0
  bytes.writeUIntBE(number ?? length + SEPARATOR_BYTES + at, 0, RECORD_BITS / 8)
  return bytes
}

const TYPE = { text: 2, unsigned32: 6, map: 7 } as const

/** The format's encoding of a value; texts and maps here are shorter than 29. */
function encode(value: string | number | object): Buffer {
  if (typeof value === 'string') {
    return Buffer.concat([control(TYPE.text, Buffer.byteLength(value)), Buffer.from(value)])
  }
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(value)
    return Buffer.concat([control(TYPE.unsigned32, 4), bytes])
  }
  const entries = Object.entries(value)
  return Buffer.concat([control(TYPE.map, entries.length), ...entries.flat().map(encode)])
}

function control(type: number, size: number): Buffer {
  return Buffer.from([(type << 5) | size])
}
