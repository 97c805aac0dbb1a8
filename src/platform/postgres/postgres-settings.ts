/** Settings of the embedded PostgreSQL, for a machine that also does other things. */

const MB = 1024 * 1024
const MIN_CACHE_MB = 128 // PostgreSQL's own default.
const MAX_CACHE_MB = 1024 // The indexes of a few million offers; the system's cache is behind it.

/**
 * The lines of postgresql.conf beside the address. With a cache of 1 GB a million offers are
 * imported in 11 s, with 256 MB in 13 s (bench/feed-import.ts), because index pages need not be
 * written out and read again. The size of the write-ahead log is limited so that recovery stays
 * short. Every commit is on disk when it is acknowledged (I2).
 */
export function postgresSettings(machine: {
  readonly memoryBytes: number
  readonly platform: NodeJS.Platform
  /** Whether /dev/shm is writable; in some containers it is not. */
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
    // The embedded build compresses only with pglz, which took a third of an import's time.
    wal_compression: 'off',
    min_wal_size: '128MB',
    max_wal_size: '1GB',
    jit: 'off', // Compiling a query costs more than the short queries here take.
    timezone: 'UTC',
    log_timezone: 'UTC',
    lc_messages: 'C',
    log_checkpoints: 'off',
    cluster_name: 'souk',
    // Shared memory in the cluster's folder instead of /dev/shm.
    ...(machine.hasSharedMemory ? {} : { dynamic_shared_memory_type: 'mmap' }),
    // After a crash, one call for the whole file system instead of one per file.
    ...(machine.platform === 'linux' ? { recovery_init_sync_method: 'syncfs' } : {}),
  }
}
