/**
 * Query parameters that only show where a reader came from.
 *
 * The names come from the documentation of the tools that set them. A name is listed only if no
 * shop is known to use it for a product: `ref`, `source` and `tag` are not here.
 */

// Families of names whose prefix no shop uses for its products.
const FAMILIES = [
  'utm_', // Urchin, Google Analytics and others.
  'mtm_', // Matomo
  'matomo_',
  'piwik_',
  'pk_',
  'otm_', // onsite teasers
  'itm_',
  'hmb_', // heatmaps
  'wt_mc', // Webtrekk, Mapp
  'ga_', // Copies of the utm family that feed tools create.
  'gad_', // Google Ads
  'hsa_', // HubSpot Ads
  '_hs', // HubSpot e-mail
  '__hs', // HubSpot across domains
  'mc_', // Mailchimp
  'vero_', // Vero
  'oly_', // Omeda
  'ml_subscriber', // MailerLite
  'fb_', // Facebook actions
  'ir_', // Impact
  'stm_', // Sailthru
  'bsft_', // Blueshift
  'trk_', // Listrak
  'amp_', // AMP caches and viewers
]

const OF_A_FAMILY = new RegExp(`^(?:${FAMILIES.join('|')})`, 'i')

const NAMES: ReadonlySet<string> = new Set([
  // Click ids of advertising networks.
  'gclid',
  'gclsrc',
  'gbraid',
  'wbraid',
  'dclid',
  'fbclid',
  'msclkid',
  'yclid',
  'ysclid',
  'ymclid',
  'twclid',
  'ttclid',
  'rdt_cid',
  'sccid',
  'epik',
  'li_fat_id',
  'igshid',
  'igsh',
  'srsltid',
  's_kwcid',
  'ef_id',
  'rb_clickid',
  'obclid',
  'tblci',
  'qclid',
  'dicbo',
  'cto_pld',
  'vmcid',
  'napm',
  // Parameters that affiliate networks add when a reader lands.
  'irclickid',
  'irgwc',
  'awc',
  'cjevent',
  'cjdata',
  'ranmid',
  'raneaid',
  'ransiteid',
  'sscid',
  'wgu',
  'wgexpiry',
  'tduid',
  'afsrc',
  'admitad_uid',
  'clickref',
  'zanpid',
  // Web analytics and e-mail tools.
  '_ga',
  '_gl',
  '_gac',
  '_openstat',
  'gs_l',
  'hsctatracking',
  'wt_zmc',
  'wickedid',
  'cm_mmc',
  'mkwid',
  'elqtrack',
  'elqtrackid',
  '_branch_match_id',
  '_branch_referrer',
  '__twitter_impression',
  // AMP caches and viewers.
  'usqp',
  'aoh',
  'ampshare',
  '__amp_source_origin',
  's_cid',
  'cmpid',
  'mkt_tok',
  'spm',
  'scm',
  '_ke',
  '_kx',
  'dm_i',
  '__s',
  'nr_email_referer',
  'omnisendcontactid',
  // A shop's own search and recommendations (Shopify): the position in the list.
  '_pos',
  '_sid',
  '_ss',
  '_psq',
  '_fid',
  'pr_prod_strat',
  'pr_rec_id',
  'pr_rec_pid',
  'pr_ref_pid',
  'pr_seq',
])

// `cid` may be a campaign id (`CSE:Shopzilla`), Souk's click id (32 hex digits), or a shop's
// category.
const CID_THAT_TRACKS = /:|%3A|^[0-9a-f]{32}$/

// `?email=jane%40mail.example`: newsletters put their readers' addresses into links.
const MAIL_ADDRESS = /^[^@\s]+(?:@|%40)[a-z\d-]+(?:\.[a-z\d-]+)+$/i

/** True if a parameter never decides which product a page shows. The name is case-insensitive. */
export function isTrackingParameter(name: string, value: string): boolean {
  if (OF_A_FAMILY.test(name) || MAIL_ADDRESS.test(value)) return true
  const lower = name.toLowerCase()
  return lower === 'cid' ? CID_THAT_TRACKS.test(value) : NAMES.has(lower)
}
