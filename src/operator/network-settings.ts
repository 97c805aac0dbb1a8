/** What a node is configured with, by the names of its environment variables, without secrets. */
import type { Config } from '../node/config.ts'

export interface NetworkSetting {
  readonly name: string
  /** Null: not set. A secret shows only whether it is set. */
  readonly value: string | null
  readonly is_secret: boolean
}

/** Every setting of this node; none changes while it runs. */
export function networkSettings(config: Config): NetworkSetting[] {
  const { dataDir, databaseUrl, natsUrl, sealingKeys } = config
  const shown: Readonly<Record<string, string | number | null>> = {
    PORT: config.port,
    HOST: config.host,
    SOUK_DATA: dataDir,
    BASE_URL: config.baseUrl,
    AUCTION_URL: config.auctionUrl,
    LINK_URL: config.linkUrl,
    ROLES: [...config.roles].join(','),
    BRAND: config.brand,
    BRAND_ALIASES: config.brandWords.filter((word) => word !== config.brand).join(','),
    RATE_LIMITS: limitsText(config.rateLimits),
    TRUSTED_PROXIES: config.trustedProxies.length,
    GEO_HEADER: config.geoHeader,
    GEOIP_DB: config.geoipDb,
    CORS_ORIGINS: config.corsOrigins.join(','),
    PRICING: config.pricing,
    LINKMATE_NEW_PER_HOUR: config.linkmateNewPerHour,
    IP_BLOCKLIST: config.ipBlocklist.length,
    RECEIPT_HOURS: config.receiptHours,
    RETENTION_DAYS: config.retentionDays,
    MAIL_FROM: config.mail?.from ?? null,
    OIDC_ISSUER: config.oidc?.issuer ?? null,
    OIDC_CLIENT_ID: config.oidc?.clientId ?? null,
    OIDC_REQUIRED: config.oidc?.isRequired ? 'on' : 'off',
    ALLOW_PRIVATE_FETCH: config.allowPrivateFetch ? 'on' : 'off',
    LOG_LEVEL: config.logLevel,
  }
  // A URL may contain a password.
  const secrets = {
    DATABASE_URL: databaseUrl,
    NATS_URL: natsUrl,
    SOUK_SECRETS: sealingKeys,
    SMTP_URL: config.mail,
    OIDC_CLIENT_SECRET: config.oidc?.clientSecret ?? null,
  }
  return [
    ...Object.entries(shown).map(([name, value]) => ({
      name,
      value: value === null || value === '' ? null : String(value),
      is_secret: false,
    })),
    ...Object.entries(secrets).map(([name, value]) => ({
      name,
      value: value === null ? null : 'set',
      is_secret: true,
    })),
  ]
}

function limitsText(limits: Config['rateLimits']): string {
  return Object.entries(limits)
    .map(([group, limit]) => `${group}=${limit === null ? 'none' : `${limit.rate}/${limit.burst}`}`)
    .join(',')
}
