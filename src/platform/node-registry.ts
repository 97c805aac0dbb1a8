/**
 * Which process is which number: every id and every lease of a node carries its number.
 *
 * A number is used again as late as possible: first those nobody ever had, then those that were
 * given back or whose dead holder has left nothing unread, the longest unused first. So a clock
 * that stood still or stepped back over a restart cannot make the same id twice. A process that
 * lives but cannot reach the database keeps its number for as long as any other is left.
 */
import type { Db } from './postgres.ts'
import { startPulse } from './pulse.ts'
import { Refusal } from './refusal.ts'
import { sql } from './sql.ts'

/** Short beside the time after which a silent node counts as dead. */
const HEARTBEAT_MS = 5_000
/** A node without a heartbeat for this long is dead, by the clock of the database. */
export const DEAD_AFTER_SECONDS = 60
/** Serialises claims, so that two processes never take the same number. */
const CLAIM_LOCK = 0x4e_4f_44_45 // 'NODE'

/** One running process. */
export interface NodeIdentity {
  readonly nodeId: number
  /**
   * Grows each time the number is taken: with it, one holder of the number is meant. Begins at the
   * time, because a database restored from a backup has forgotten holders whose spools are there.
   */
  readonly incarnation: string
}

export interface NodeClaim extends NodeIdentity {
  /** False once somebody else has the number: make no more ids, accept nothing more. */
  isHeld(): boolean
  /** Gives the number back. `isSpoolEmpty`: all this process accepted is in the event log. */
  release(options: { isSpoolEmpty: boolean }): Promise<void>
}

export interface ClaimOptions {
  readonly db: Db
  readonly host: string
  readonly pid: number
  readonly roles: string
  /** Whether it is told, or can look up, which country a reader is in. */
  readonly knowsCountries: boolean
  /** Marks of the keys it opens results with; it signs with the first. None: a command's. */
  readonly keyMarks?: readonly string[]
  /** Name and value of what all nodes must be told alike. None: a command's. */
  readonly settings?: Readonly<Record<string, string>>
  /** Called once if another process took the number over. */
  readonly onLost: () => void
  /** A heartbeat that failed; the next one is tried all the same. */
  readonly onError: (error: unknown) => void
}

/** Takes a number and keeps it alive until it is released. Throws when all 1023 are in use. */
export async function claimNode(options: ClaimOptions): Promise<NodeClaim> {
  const { db, onLost, onError } = options
  const { node_id: nodeId, incarnation } = await takeNumber(options)
  let isHeld = true

  const beat = async () => {
    const touched = await db.run(sql`
      update node set heartbeat_at = now()
      where node_id = ${nodeId} and incarnation = ${incarnation}`)
    if (touched === 1 || !isHeld) return
    isHeld = false
    clearInterval(timer)
    onLost()
  }
  const timer = startPulse(beat, { everyMs: HEARTBEAT_MS, onError })

  return {
    nodeId,
    incarnation,
    isHeld: () => isHeld,
    async release({ isSpoolEmpty }) {
      isHeld = false
      clearInterval(timer)
      // Dead at once, so that nobody waits a minute for what this node still held.
      await db.run(sql`
        update node set heartbeat_at = '-infinity', is_spool_empty = ${isSpoolEmpty}
        where node_id = ${nodeId} and incarnation = ${incarnation}`)
    },
  }
}

async function takeNumber(options: ClaimOptions) {
  const { db, host, pid, roles, knowsCountries, keyMarks = [], settings = {} } = options
  const taken = await db.transaction(async (tx) => {
    await tx.run(sql`select pg_advisory_xact_lock(${CLAIM_LOCK}, 0)`)
    // A running node's spool is never called empty: what it held when it died, nobody could tell.
    return tx.row<{ node_id: number; incarnation: string }>(sql`
      insert into node
        (node_id, incarnation, host, pid, roles, knows_countries, key_marks, settings,
          is_spool_empty)
      select number, extract(epoch from now()) * 1000, ${host}, ${pid}, ${roles},
        ${knowsCountries}, ${keyMarks}::text[], ${JSON.stringify(settings)}::jsonb, false
      from generate_series(1, 1023) as number
      left join node on node.node_id = number
      where node_id is null
        or heartbeat_at < now() - make_interval(secs => ${DEAD_AFTER_SECONDS})
      order by node_id is null desc, is_spool_empty desc, started_at, number
      limit 1
      on conflict (node_id) do update
        set incarnation = greatest(node.incarnation + 1, excluded.incarnation),
            host = excluded.host, pid = excluded.pid,
            roles = excluded.roles, knows_countries = excluded.knows_countries,
            key_marks = excluded.key_marks, settings = excluded.settings,
            started_at = now(), heartbeat_at = now(),
            is_spool_empty = false
      returning node_id, incarnation`)
  })
  if (taken === null) {
    throw new Refusal('all 1023 node numbers are in use: stop some processes, or wait a minute')
  }
  return taken
}

/** Whether the edge that started last knows readers' countries; false before the first. */
export async function doesEdgeKnowCountries(db: Db): Promise<boolean> {
  const row = await db.row<{ knows_countries: boolean }>(sql`
    select knows_countries from node where 'edge' = any(string_to_array(roles, ','))
    order by started_at desc limit 1`)
  return row?.knows_countries ?? false
}

export interface KeyGap {
  readonly signer: string
  readonly reader: string
}

/** Living edges that lack another's key: clicks there on what it signed are not paid. */
export function listKeyGaps(db: Db): Promise<KeyGap[]> {
  return db.rows(sql`
    with edge as (
      select node_id, key_marks, format('node %s (%s)', node_id, host) as name from node
      where 'edge' = any(string_to_array(roles, ',')) and key_marks <> '{}'
        and heartbeat_at > now() - make_interval(secs => ${DEAD_AFTER_SECONDS})
    )
    select signer.name as signer, reader.name as reader
    from edge as signer join edge as reader on signer.key_marks[1] <> all(reader.key_marks)
    order by signer.node_id, reader.node_id`)
}

/**
 * Edges that live and lack the key of one that has ended, where what it sealed may be out still:
 * the edge that started after it, perhaps in its place, did so within `withinMs`.
 */
export function listLostKeys(db: Db, withinMs: number): Promise<KeyGap[]> {
  return db.rows(sql`
    with edge as (
      select key_marks, format('node %s (%s)', node_id, host) as name, started_at,
        heartbeat_at > now() - make_interval(secs => ${DEAD_AFTER_SECONDS}) as is_alive
      from node where 'edge' = any(string_to_array(roles, ',')) and key_marks <> '{}'
    )
    select signer.name as signer, reader.name as reader
    from edge as signer join edge as reader on signer.key_marks[1] <> all(reader.key_marks)
    where reader.is_alive and not signer.is_alive and signer.started_at < reader.started_at
      and (select min(started_at) from edge as next where started_at > signer.started_at)
        > now() - make_interval(secs => ${withinMs / 1000})
    order by signer.started_at desc, reader.name`)
}

export interface SettingGap {
  readonly name: string
  /** Each value, and the nodes that were told it. */
  readonly told: string
}

/** Settings that living nodes were told differently. */
export function listSettingGaps(db: Db): Promise<SettingGap[]> {
  return db.rows(sql`
    with told as (
      select name, value,
        string_agg(format('node %s (%s)', node_id, host), ', ' order by node_id) as nodes
      from node cross join jsonb_each_text(settings) as setting (name, value)
      where heartbeat_at > now() - make_interval(secs => ${DEAD_AFTER_SECONDS})
      group by name, value
    )
    select name, string_agg(format('%s at %s', value, nodes), '; ' order by value) as told
    from told group by name having count(*) > 1 order by name`)
}

/** Which installation's database this is. */
export async function readInstallation(db: Db): Promise<string> {
  const [row] = await db.rows<{ id: string }>(sql`select id from installation`)
  if (row === undefined) throw new Error('the table installation is empty')
  return row.id
}

export interface SpoolOwner extends NodeIdentity {
  /** Whose events the spool holds; not recorded before there were any. */
  readonly installation?: string
}

/** What a node records beside its spool, for whoever drains it after the node has died. */
export function spoolOwner({ nodeId, incarnation }: NodeIdentity, installation: string): string {
  return JSON.stringify({ nodeId, incarnation, installation } satisfies SpoolOwner)
}

/** Whose spool it was; null: it died before it had a number, and so before it accepted anything. */
export function readSpoolOwner(owner: string): SpoolOwner | null {
  return owner === '' ? null : JSON.parse(owner)
}

/** Notes that everything a dead node had accepted is in the event log now. */
export async function recordSpoolDrained(
  db: Db,
  { nodeId, incarnation }: NodeIdentity,
): Promise<void> {
  await db.run(sql`
    update node set is_spool_empty = true
    where node_id = ${nodeId} and incarnation = ${incarnation}`)
}
