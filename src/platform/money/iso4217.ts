/**
 * ISO 4217 currency codes and their number of decimals.
 *
 * From the standard's list one of February 2026, not from Intl: ICU reports what shops print (HUF
 * without decimals), ISO what banks settle.
 */

const CODES_BY_MINOR_UNITS: readonly (readonly [minorUnits: number | null, codes: string])[] = [
  [
    2,
    `
    AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD
    CDF CHE CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS
    GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD
    LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB
    PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP
    SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD XCD XCG YER ZAR ZMW
    ZWG`,
  ],
  [
    0,
    `
    BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF`,
  ],
  [
    3,
    `
    BHD IQD JOD KWD LYD OMR TND`,
  ],
  [
    4,
    `
    CLF UYW`,
  ],
  [
    null,
    `
    XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX`,
  ],
]

/** Minor units by code; null where the standard says they do not apply (metals, funds, tests). */
export const ISO_4217: ReadonlyMap<string, number | null> = new Map(
  CODES_BY_MINOR_UNITS.flatMap(([minorUnits, codes]) =>
    codes
      .trim()
      .split(/\s+/)
      .map((code) => [code, minorUnits] as const),
  ),
)
