/** A part of the frame that loads after the first paint, so that the page appears sooner. */
import { type ComponentType, lazy, type ReactNode, Suspense } from 'react'

/** Shows `fallback(props)` until the part is there; without a connection, it stays. */
export function lazyPart<P extends object>(
  load: () => Promise<ComponentType<P>>,
  fallback: (props: P) => ReactNode,
): (props: P) => ReactNode {
  const never = () => new Promise<never>(() => undefined)
  const Part = lazy(() => load().then((Loaded) => ({ default: Loaded }), never)) as ComponentType<P>
  return (props) => (
    <Suspense fallback={fallback(props)}>
      <Part {...props} />
    </Suspense>
  )
}
