import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'csv-parse/sync'
import fc from '../../../test/support/fast-check.ts'
import { csvLine, hasColumns, quotedCsvLine, readCsv, readCsvTable, requireColumns } from './csv.ts'

test('another reader reads back what was written, quotes and line breaks included', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', '"', ',', ';', '\n', '\r', '\t', '|', ' ', 'ß'),
  })
  fc.assert(
    fc.property(fc.array(text, { minLength: 2 }), (cells) => {
      const [read] = parse(csvLine(cells.map((cell) => ({ text: cell })))) as string[][]
      assert.deepEqual(read, cells)
    }),
  )
})

test('no part of a cell begins like a formula, whichever separator a spreadsheet splits at', () => {
  const unit = fc.constantFrom(
    'a',
    '1',
    '.',
    '=',
    '+',
    '-',
    '@',
    '＝',
    '＠',
    ',',
    ';',
    '\t',
    '|',
    '\n',
    ' ',
  )
  fc.assert(
    fc.property(fc.string({ unit }), (text) => {
      const [[cell = ''] = []] = parse(csvLine([{ text }, 'x'])) as string[][]
      for (const part of cell.split(/[,;\t|\r\n]/)) {
        if (/^\s*[=+\-@＝＋－＠]/.test(part)) assert.equal(Number.isNaN(Number(part)), false, part)
      }
      assert.equal(cell.replaceAll("'", ''), text, 'nothing but apostrophes is added')
    }),
  )
})

test('text that a spreadsheet would run is marked as text; numbers are not touched', () => {
  const dangerous = [
    ...[
      '=1+1',
      '+1+1',
      '-1-1',
      '@SUM(A1)',
      '＝1+1',
      '＋A1',
      '－A1',
      '＠A1',
      '\t=1',
      '\r=1',
      '\n=1',
    ],
    ...[' =1', "x;=cmd|' /C calc'!A0;y", 'a,+A1', 'a|@A1', 'a\t -A1'],
  ]
  for (const text of dangerous) {
    const [[cell = ''] = []] = parse(csvLine([{ text }, 'x'])) as string[][]
    assert.equal(cell, text.replace(/([=+\-@＝＋－＠])/, "'$1"))
  }
  for (const text of ['-1', '+1.50', '-2;-3', '1e-3', 'a-b', 'a=b', 'a@b.example']) {
    const [[cell = ''] = []] = parse(csvLine([{ text }, 'x'])) as string[][]
    assert.equal(cell, text)
  }
  assert.equal(csvLine(['-20.00', -1, null, { text: null }, { text: 'a=b' }]), '-20.00,-1,,,a=b\n')
})

test('a cell is quoted when it holds any separator, a quote or a line break', () => {
  for (const separator of [',', ';', '\t', '|', '\n', '\r']) {
    assert.equal(csvLine([{ text: `a${separator}b` }, 'c;d', 1]), `"a${separator}b","c;d",1\n`)
  }
  assert.equal(csvLine([{ text: 'a"b' }, { text: 'a b' }]), '"a""b",a b\n')
})

test('a file that ends in the middle of its last line is refused, a short line before it is not', () => {
  const cut = { field: 'line 3', rule: 'ends before its last cell: was the file cut?' }
  assert.throws(() => readCsv('date,usd,jpy\n2026-01-01,1.1\n2026-01-02,1'), { data: [cut] })
  for (const whole of ['date,usd\n2026-01-01\n2026-01-02,1.1', 'date,usd\n2026-01-02\n']) {
    assert.equal(readCsv(whole).rows.at(-1)?.cells.date, '2026-01-02')
  }
})

test('a table is read by header, whatever its case, with the line of each row', () => {
  const { headers, rows } = readCsv('\uFEFFDate, USD ,\r\n2026-01-01,1.1,\r\n\r\n"a\nb",2,\r\n')
  assert.deepEqual(headers, ['date', 'usd'])
  assert.deepEqual(
    rows.map(({ line, cells }) => [line, cells.date, cells.usd]),
    [
      [2, '2026-01-01', '1.1'],
      [4, 'a\nb', '2'],
    ],
  )
})

test('of columns with one name the first that is filled is read, so that no amount is lost', () => {
  const { rows } = readCsv('day,Money,money\n1,5.50,\n2,,6.50\n3,7.50,8.50\n4\n')
  const read = rows.map(({ cells }) => cells.money)
  assert.deepEqual(read, ['5.50', '6.50', '7.50', undefined])
})

test('semicolons and tabs separate as well, where the header has most of them', () => {
  const cells = { 'order, id': 'a;b', value: '1.50', note: '' }
  for (const text of [
    '"order, id";value;note\r\n"a;b";1.50;\r\n',
    '\uFEFF\n"order, id"\tvalue\tnote\na;b\t1.50\t\n',
    '"order, id",value,note\na;b,1.50,\n',
  ]) {
    assert.deepEqual(
      readCsv(text).rows.map((row) => row.cells),
      [cells],
    )
  }
  assert.throws(() => readCsv('id;value\n1;1;50\n'), /line 2: .* more cells than the header/)
  assert.deepEqual(readCsv('only\na;b').rows[0]?.cells, { only: 'a;b' })
})

test('spaces around a cell are no part of it, nor is a byte order mark before a quote', () => {
  const { rows } = readCsv('\uFEFF"Date", usd ,note\n 2026-01-01 ,\t1.1 ," in quotes "\n')
  assert.deepEqual(rows[0]?.cells, { date: '2026-01-01', usd: '1.1', note: 'in quotes' })
})

test('every column that a file lacks is named, and none that it has', () => {
  const table = readCsv('date,usd\n')
  assert.equal(requireColumns(table, ['usd', 'date']), undefined)
  const faults = ['gbp', 'jpy'].map((name) => ({
    field: 'line 1',
    rule: `does not look like a header: needs a column "${name}"`,
  }))
  assert.throws(() => requireColumns(table, ['gbp', 'usd', 'jpy']), { data: faults })
})

test('where every cell is text each is in quotes, an unknown one too, and none a formula', () => {
  assert.equal(quotedCsvLine(['', 'a "b"', '=1', 'x,y']), `"","a ""b""","'=1","x,y"\n`)
})

test('a file that is no CSV says where', () => {
  assert.throws(() => readCsv('a,b\n"x'), /line 2: ends before its last cell/)
  assert.throws(() => readCsv('a,b\n1,2\n1,x\0'), /line 3: holds U\+0000/)
  assert.throws(() => readCsv('\0a,b\n'), /line 1: holds U\+0000/)
})

test('a row with more cells than the header is refused, never read a column further on', () => {
  assert.throws(() => readCsv('date,usd,jpy\n2026-01-01,1,1684,186,75\n'), /line 2: .* more cells/)
  const withoutClick = 'order_id,value,click_id\no1,1,234.50,\no2,5,\n'
  assert.throws(() => readCsv(withoutClick), /line 2: .* more cells/)
  const { rows } = readCsv('a,b,\n1,2,\n3\n')
  assert.deepEqual(
    rows.map(({ cells }) => cells.a),
    ['1', '3'],
  )
})

test('lines above the header are skipped, and lines are counted from the first of the file', () => {
  const preambles = [
    '# remark, with a comma\n#\n',
    'sep=;\n',
    '\n \nReport of November, all accounts\n\n',
    'Account: "Shop"; EUR\n',
    '# a quote " that is never closed\n',
  ]
  for (const preamble of preambles) {
    const text = `${preamble}Date;Money\n2026-01-01;1,50\n`
    const { headerLine, rows, separator } = readCsvTable(text, hasColumns(['date', 'money']))
    const line = preamble.split('\n').length
    assert.deepEqual([headerLine, separator, rows[0]?.line], [line, ';', line + 1], preamble)
    assert.deepEqual(rows[0]?.cells, { date: '2026-01-01', money: '1,50' })
  }
})

test('a line that cannot be read is listed with its number, and no other line is lost', () => {
  const { rows, bad } = readCsvTable('a,b\n1,2\n1,2,3\n"x,y\n4,5\n6,\0\n7,8\n')
  assert.deepEqual(
    rows.map(({ line }) => line),
    [2, 5, 7],
  )
  assert.deepEqual(
    bad.map(({ line }) => line),
    [3, 4, 6],
  )
})
