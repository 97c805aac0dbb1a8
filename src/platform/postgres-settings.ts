/** How the embedded PostgreSQL is set: for a machine that does other things too. */

const MB = 1024 * 1024
const MIN_CACHE_MB = 128 // PostgreSQL's own default.
const MAX_CACHE_MB = 1024 // The indexes of a few million offers; behind it is the system's cache.

/**
 * The lines of postgresql.conf beside the address. The cache is a sixteenth of the memory: with
 * 1 GB of it a million offers are imported in 11 s, with 256 MB in 13 (bench/feed-import.ts),
 * because pages of indexes need not be written out and read again. The log is bounded so that
 * recovery stays short. Every commit is on the disk when it is answered (I2).
 */
export function postgresSettings(machine: {
  readonly memoryBytes: number
  readonly platform: NodeJS.Platform
  /** Whether /dev/shm takes files, which it does not in every container. */
  readonly hasSharedMemory: boolean
}): Readonly<Record<string, string>> {
  const memoryMb = Math.floor(machine.memoryBytes / MB)
  const cacheMb = Math.min(Math.max(Math.floor(memoryMb / 16), MIN_CACHE_MB), MAX_CACHE_MB)
  return {
    max_connections: '100',
    max_locks_per_transaction: '256', // A query over years of day partitions locks each of them.
    shared_buffers: `${cacheMb}MB`,
    effective_cache_size: `${Math.max(Math.floor(memoryMb / 4), cacheMb)}MB`,
    work_mem: '8MB',
    maintenance_work_mem: '128MB',
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    // The embedded build can only compress by pglz, which took a third of an import's time.
    wal_compression: 'off',
    min_wal_size: '128MB',
    max_wal_size: '1GB',
    jit: 'off', // Compiling a query costs more than the short ones here take.
    timezone: 'UTC',
    log_timezone: 'UTC',
    lc_messages: 'C',
    log_checkpoints: 'off',
    cluster_name: 'souk',
    // Instead of there, in the cluster's folder.
    ...(machine.hasSharedMemory ? {} : { dynamic_shared_memory_type: 'mmap' }),
    // After a crash one call for the whole file system, not one for each of thousands of files.
    ...(machine.platform === 'linux' ? { recovery_init_sync_method: 'syncfs' } : {}),
  }
}
