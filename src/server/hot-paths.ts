/** The hot endpoints of a node's roles, by path: what the server asks first for each request. */
import type { Node } from '../node/node.ts'
import type { HotRoute } from '../platform/http/hot-http.ts'
import { baseRoutes, edgeRoutes } from './edge-routes.ts'

/** The hot route of a path without its trailing slash, or null. */
export function hotRoutes(node: Node): (path: string) => HotRoute | null {
  const { roles } = node.config
  if (roles.has('edge')) return edgeRoutes(node)
  return roles.has('api') ? baseRoutes(node) : () => null
}
