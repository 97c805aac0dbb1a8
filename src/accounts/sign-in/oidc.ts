/** Sign-in through an identity provider: OpenID Connect, authorization code with PKCE. */
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client'

export interface OidcSettings {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
}

/** What the browser keeps between leaving for the provider and returning. */
export interface OidcAttempt {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  /** The token of an invitation that is to be accepted on return. */
  readonly invitation?: string
}

/** Who the provider says it is. */
export interface OidcUser {
  readonly email: string | null
  readonly isVerified: boolean
}

export const CALLBACK_PATH = '/api/v1/session/oidc/callback/'
/** A person waits for it. */
const TIMEOUT_SECONDS = 10

export class OidcClient {
  readonly #settings: OidcSettings
  readonly #callback: string
  #configuration: Promise<Configuration> | null = null

  constructor(settings: OidcSettings, baseUrl: string) {
    this.#settings = settings
    this.#callback = baseUrl + CALLBACK_PATH
  }

  /** The provider's URL for the browser, and the state that it keeps meanwhile. */
  async begin(): Promise<{ readonly url: URL; readonly attempt: OidcAttempt }> {
    const attempt = {
      state: randomState(),
      nonce: randomNonce(),
      verifier: randomPKCECodeVerifier(),
    }
    const url = buildAuthorizationUrl(await this.#configure(), {
      redirect_uri: this.#callback,
      scope: 'openid email',
      state: attempt.state,
      nonce: attempt.nonce,
      code_challenge: await calculatePKCECodeChallenge(attempt.verifier),
      code_challenge_method: 'S256',
    })
    return { url, attempt }
  }

  /** The user of the provider's answer, `query`; throws unless it belongs to this attempt. */
  async finish(query: string, { state, nonce, verifier }: OidcAttempt): Promise<OidcUser> {
    const configuration = await this.#configure()
    const tokens = await authorizationCodeGrant(configuration, new URL(this.#callback + query), {
      ...{ expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier },
      idTokenExpected: true,
    })
    const claims = tokens.claims()
    if (claims === undefined) throw new Error('the provider sent no ID token')
    // Many providers name the address only in their answer to this.
    const { email, email_verified: isVerified } =
      claims.email === undefined
        ? await fetchUserInfo(configuration, tokens.access_token, claims.sub)
        : claims
    return {
      email: typeof email === 'string' ? email : null,
      isVerified: isVerified === true,
    }
  }

  /** The provider's own description, read once; again after a failure. */
  #configure(): Promise<Configuration> {
    const { issuer, clientId, clientSecret } = this.#settings
    const isPlain = issuer.startsWith('http:') // Only on this machine (src/node/config.ts).
    this.#configuration ??= discovery(new URL(issuer), clientId, clientSecret, undefined, {
      timeout: TIMEOUT_SECONDS,
      ...(isPlain ? { execute: [allowInsecureRequests] } : {}),
    }).catch((error) => {
      this.#configuration = null
      throw error
    })
    return this.#configuration
  }
}
