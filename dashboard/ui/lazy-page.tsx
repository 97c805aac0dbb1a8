/** Loads a page's chunk when the page is opened, and waits for an unreachable service. */
import { useQuery } from '@tanstack/react-query'
import type { ComponentType, ReactNode } from 'react'
import { noAnswer, outdated } from '../api.ts'
import { BrokenPage, Progress } from './notice.tsx'

/** A page that the module of `load` exports under `name`. */
export function lazyPage<N extends string>(
  load: () => Promise<Record<N, ComponentType>>,
  name: N,
): (() => ReactNode) & { preload: () => Promise<void> } {
  // biome-ignore lint/correctness/noComponentHookFactories: runs once per page, while modules load
  const LazyPage = () => {
    const chunk = useQuery({
      queryKey: ['page', name],
      queryFn: async () => ({ Page: await loadPage(load, name) }),
      staleTime: Infinity,
      gcTime: Infinity,
      structuralSharing: false,
    })
    if (chunk.data !== undefined) return <chunk.data.Page />
    return chunk.isError ? <BrokenPage /> : <Progress query={chunk} />
  }
  // The router calls it when the pointer or the focus reaches a link to the page.
  return Object.assign(LazyPage, { preload: () => load().then(ignore, ignore) })
}

const ignore = () => undefined

const RELOADED = 'souk reloaded'
const RELOAD_MS = 10_000

async function loadPage<N extends string>(
  load: () => Promise<Record<N, ComponentType>>,
  name: N,
): Promise<ComponentType> {
  try {
    return (await load())[name]
  } catch {
    await fetch(import.meta.url, { method: 'HEAD', cache: 'no-store' }).catch(noAnswer)
    return reload()
  }
}

/**
 * Browsers do not fetch a module again that once failed, and a newer version of the service has
 * other chunks than this tab. A reload fixes both, once the service responds. A page that has not
 * loaded has no input to lose.
 */
function reload(): Promise<never> {
  const lastMs = Number(sessionStorage.getItem(RELOADED))
  if (Date.now() - lastMs < RELOAD_MS) return outdated()
  sessionStorage.setItem(RELOADED, String(Date.now()))
  location.reload()
  return new Promise(ignore)
}
