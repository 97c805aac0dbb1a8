/** Lists the monthly statements, each with a printable page and a CSV file. */
import { type Payments, statementUrl } from '../api.ts'
import { monthOfYear } from '../format.ts'
import { type MoneyColumn, MoneyTable } from '../ui/money-table.tsx'

type Statement = Payments['statements'][number]

const COLUMNS: readonly MoneyColumn<Statement>[] = [
  { head: 'Paid out', amount: (one) => one.payout_usd },
  { head: 'Released', amount: (one) => one.released_usd },
  { head: 'Reversed', amount: (one) => one.taken_back_usd },
  { head: 'Carried over', amount: (one) => one.closing_usd },
  { head: 'File', cell: (one) => <File statement={one} /> },
]

export function StatementTable({ statements }: { statements: readonly Statement[] }) {
  if (statements.length === 0) return <NoStatement />
  return (
    <MoneyTable
      id="statements"
      title="Statements"
      rows={statements}
      keyOf={(one) => one.statement_id}
      name={{ head: 'Month', cell: (one) => <Page statement={one} /> }}
      columns={COLUMNS}
    />
  )
}

function Page({ statement }: { statement: Statement }) {
  const href = statementUrl(statement, 'html')
  return (
    <a href={href} target="_blank" rel="noreferrer" className="link">
      {monthOfYear(statement.month)}
    </a>
  )
}

function File({ statement }: { statement: Statement }) {
  const month = monthOfYear(statement.month)
  return (
    <a
      href={statementUrl(statement, 'csv')}
      download
      aria-label={`${month} as a CSV file`}
      className="link"
    >
      CSV
    </a>
  )
}

function NoStatement() {
  return (
    <section aria-labelledby="statements" className="panel px-4 py-4">
      <h2 id="statements">Statements</h2>
      <p className="mt-1 text-sm text-soft">
        No statements yet. Your first statement follows the first month with a merchant payment. You
        can print it or download it as CSV.
      </p>
    </section>
  )
}
