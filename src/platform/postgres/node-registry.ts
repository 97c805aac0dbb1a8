/**
 * Assigns a number to each process. Every id and every lease contains its node's number.
 *
 * A number is reused as late as possible: first the numbers that were never used, then those
 * released or left by a dead node with nothing unread, the longest unused first. So a clock that
 * stood still or stepped back over a restart cannot produce the same id twice. A live process that
 * cannot reach the database keeps its number while any other is free.
 */

import { startPoller } from '../concurrency/poller.ts'
import { Refusal } from '../errors/refusal.ts'
import type { Db } from './postgres.ts'
import { sql } from './sql.ts'

/** Short compared with the time after which a silent node counts as dead. */
const HEARTBEAT_MS = 5_000
/** A node without a heartbeat for this long is dead, by the database's clock. */
export const DEAD_AFTER_SECONDS = 60
/** Serializes claims, so that two processes never take the same number. */
const CLAIM_LOCK = 0x4e_4f_44_45 // 'NODE'

/** One running process. */
export interface NodeIdentity {
  readonly nodeId: number
  /**
   * Identifies one holder of the number: it grows with each claim. It starts at the current time,
   * because a restored database has forgotten holders whose spools still exist.
   */
  readonly incarnation: string
}

export interface NodeClaim extends NodeIdentity {
  /** False once another process has the number: generate no more ids, accept nothing more. */
  isHeld(): boolean
  /**
   * Releases the number. `isSpoolEmpty`: everything that this process accepted is in the event log.
   */
  release(options: { isSpoolEmpty: boolean }): Promise<void>
}

export interface ClaimOptions {
  readonly db: Db
  readonly host: string
  readonly pid: number
  readonly roles: string
  /** Whether the node knows readers' countries. */
  readonly knowsCountries: boolean
  /**
   * Fingerprints of the keys it opens results with; it signs with the first. Empty for a command.
   */
  readonly keyFingerprints?: readonly string[]
  /** Settings that must be the same on all nodes. Empty for a command. */
  readonly settings?: Readonly<Record<string, string>>
  /** Called once if another process took the number over. */
  readonly onLost: () => void
  /** Receives a failed heartbeat; the next one is tried all the same. */
  readonly onError: (error: unknown) => void
}

/** Takes a number and keeps it alive until it is released. Throws if all 1,023 are in use. */
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
  const timer = startPoller(beat, { everyMs: HEARTBEAT_MS, onError })

  return {
    nodeId,
    incarnation,
    isHeld: () => isHeld,
    async release({ isSpoolEmpty }) {
      isHeld = false
      clearInterval(timer)
      // Counts as dead at once, so that nobody waits a minute for this node's leases.
      await db.run(sql`
        update node set heartbeat_at = '-infinity', is_spool_empty = ${isSpoolEmpty}
        where node_id = ${nodeId} and incarnation = ${incarnation}`)
    },
  }
}

async function takeNumber(options: ClaimOptions) {
  const { db, host, pid, roles, knowsCountries, keyFingerprints = [], settings = {} } = options
  const taken = await db.transaction(async (tx) => {
    await tx.run(sql`select pg_advisory_xact_lock(${CLAIM_LOCK}, 0)`)
    // A running node's spool never counts as empty: if the node died, nobody could know what it
    // held.
    return tx.row<{ node_id: number; incarnation: string }>(sql`
      insert into node
        (node_id, incarnation, host, pid, roles, knows_countries, key_fingerprints, settings,
          is_spool_empty)
      select number, extract(epoch from now()) * 1000, ${host}, ${pid}, ${roles},
        ${knowsCountries}, ${keyFingerprints}::text[], ${JSON.stringify(settings)}::jsonb, false
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
            key_fingerprints = excluded.key_fingerprints, settings = excluded.settings,
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

/** Live edges that lack another edge's key: clicks there on its results are not paid. */
export function listKeyGaps(db: Db): Promise<KeyGap[]> {
  return db.rows(sql`
    with edge as (
      select node_id, key_fingerprints, format('node %s (%s)', node_id, host) as name from node
      where 'edge' = any(string_to_array(roles, ',')) and key_fingerprints <> '{}'
        and heartbeat_at > now() - make_interval(secs => ${DEAD_AFTER_SECONDS})
    )
    select signer.name as signer, reader.name as reader
    from edge as signer join edge as reader
      on signer.key_fingerprints[1] <> all(reader.key_fingerprints)
    order by signer.node_id, reader.node_id`)
}

/**
 * Live edges that lack the key of an ended edge whose results may still be in use. The ended edge
 * was replaced less than `withinMs` ago.
 */
export function listLostKeys(db: Db, withinMs: number): Promise<KeyGap[]> {
  return db.rows(sql`
    with edge as (
      select key_fingerprints, format('node %s (%s)', node_id, host) as name, started_at,
        heartbeat_at > now() - make_interval(secs => ${DEAD_AFTER_SECONDS}) as is_alive
      from node where 'edge' = any(string_to_array(roles, ',')) and key_fingerprints <> '{}'
    )
    select signer.name as signer, reader.name as reader
    from edge as signer join edge as reader
      on signer.key_fingerprints[1] <> all(reader.key_fingerprints)
    where reader.is_alive and not signer.is_alive and signer.started_at < reader.started_at
      and (select min(started_at) from edge as next where started_at > signer.started_at)
        > now() - make_interval(secs => ${withinMs / 1000})
    order by signer.started_at desc, reader.name`)
}

export interface SettingGap {
  readonly name: string
  /** Each value, and the nodes that have it. */
  readonly differences: string
}

/** Settings that differ between live nodes. */
export function listSettingGaps(db: Db): Promise<SettingGap[]> {
  return db.rows(sql`
    with value_nodes as (
      select name, value,
        string_agg(format('node %s (%s)', node_id, host), ', ' order by node_id) as nodes
      from node cross join jsonb_each_text(settings) as setting (name, value)
      where heartbeat_at > now() - make_interval(secs => ${DEAD_AFTER_SECONDS})
      group by name, value
    )
    select name, string_agg(format('%s at %s', value, nodes), '; ' order by value) as differences
    from value_nodes group by name having count(*) > 1 order by name`)
}

/** The id of this database's installation. */
export async function readInstallation(db: Db): Promise<string> {
  const [row] = await db.rows<{ id: string }>(sql`select id from installation`)
  if (row === undefined) throw new Error('the table installation is empty')
  return row.id
}

export interface SpoolOwner extends NodeIdentity {
  /** The installation whose events the spool holds; missing if it never held any. */
  readonly installation?: string
}

/** The record beside a node's spool, for the process that drains it after the node's death. */
export function spoolOwner({ nodeId, incarnation }: NodeIdentity, installation: string): string {
  return JSON.stringify({ nodeId, incarnation, installation } satisfies SpoolOwner)
}

/**
 * Reads that record; null if the process died before it had a number, and so before it accepted
 * anything.
 */
export function readSpoolOwner(owner: string): SpoolOwner | null {
  return owner === '' ? null : JSON.parse(owner)
}

/** Records that everything a dead node had accepted is now in the event log. */
export async function recordSpoolDrained(
  db: Db,
  { nodeId, incarnation }: NodeIdentity,
): Promise<void> {
  await db.run(sql`
    update node set is_spool_empty = true
    where node_id = ${nodeId} and incarnation = ${incarnation}`)
}
