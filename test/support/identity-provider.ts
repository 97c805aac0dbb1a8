/** A real OpenID Connect provider on loopback, and a browser that signs in at it. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'
import type { Scope } from './database.ts'

export const CLIENT = { id: 'souk', secret: 'a secret of at least 32 characters' }

export interface IdentityProvider {
  readonly issuer: string
  /** Who signs in next. */
  person: { email: string; isVerified: boolean }
  /** Where these addresses may be led back to. */
  allow(redirectUri: string): void
  /** Follows the provider's pages as a browser; returns the address of the callback. */
  signInAt(url: string): Promise<string>
}

export async function startIdentityProvider(scope: Scope): Promise<IdentityProvider> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  scope.after(async () => void server.close())
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const here: IdentityProvider = {
    issuer,
    person: { email: 'nobody@daily.example', isVerified: true },
    allow: (redirectUri) => {
      const provider = makeProvider(issuer, { redirectUri, here })
      server.removeAllListeners('request')
      server.on('request', (request, response) => {
        if (!request.url?.startsWith('/interaction/')) {
          return void provider.callback()(request, response)
        }
        return void finishInteraction(provider, request, response)
      })
    },
    signInAt: (url) => followTo(url, issuer),
  }
  return here
}

function makeProvider(
  issuer: string,
  { redirectUri, here }: { redirectUri: string; here: IdentityProvider },
): Provider {
  return new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [redirectUri],
        response_types: ['code'],
        grant_types: ['authorization_code'],
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    cookies: { keys: ['a key for the cookies of a test'] },
    pkce: { required: () => true },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    features: { devInteractions: { enabled: false } },
    findAccount: (_context, sub) => ({
      accountId: sub,
      claims: () => ({ sub, email: here.person.email, email_verified: here.person.isVerified }),
    }),
  })
}

/** Signs in and consents at once, as a person would on two pages. */
async function finishInteraction(
  provider: Provider,
  ...[request, response]: Parameters<Provider['interactionFinished']> extends [
    infer Request,
    infer Response,
    ...unknown[],
  ]
    ? [Request, Response]
    : never
): Promise<void> {
  const accountId = 'somebody'
  const grant = new provider.Grant({ accountId, clientId: CLIENT.id })
  grant.addOIDCScope('openid email')
  const consent = { grantId: await grant.save() }
  await provider.interactionFinished(request, response, { login: { accountId }, consent })
}

/** Follows redirects of the provider, with its cookies, to the first one that leaves it. */
async function followTo(start: string, issuer: string): Promise<string> {
  const cookies = new Map<string, string>()
  let url = start
  while (url.startsWith(issuer)) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    const location = response.headers.get('location')
    if (location === null) throw new Error(`${response.status} ${await response.text()}`)
    url = new URL(location, url).href
  }
  return url
}
