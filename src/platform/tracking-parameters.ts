/**
 * Which query parameters only say where a reader came from?
 *
 * Names are facts, gathered from the documentation of the tools that set them. A name is listed
 * only when no shop is known to use it for a product: `ref`, `source` and `tag` are not here.
 */

// Whole families of names share a beginning that no shop uses for its products.
const FAMILIES = [
  'utm_', // Urchin, Google Analytics and everybody since
  'mtm_', // Matomo
  'matomo_',
  'piwik_',
  'pk_',
  'otm_', // onsite teasers
  'itm_',
  'hmb_', // heatmaps
  'wt_mc', // Webtrekk, Mapp
  'ga_', // feed-made copies of the utm family
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
]

const OF_A_FAMILY = new RegExp(`^(?:${FAMILIES.join('|')})`, 'i')

const NAMES: ReadonlySet<string> = new Set([
  // Click identifiers of advertising networks.
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
  // Affiliate networks: what they add when a reader lands.
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
  // A shop's own search and recommendations (Shopify): from which place of the list.
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

// `cid` is a campaign id (`CSE:Shopzilla`), our own click id (32 hex digits), or a shop's category.
const CID_THAT_TRACKS = /:|%3A|^[0-9a-f]{32}$/

// `?email=jane%40mail.example`: newsletters write their readers into their links.
const MAIL_ADDRESS = /^[^@\s]+(?:@|%40)[a-z\d-]+(?:\.[a-z\d-]+)+$/i

/** True when a parameter never decides which product a page shows. The name's case is ignored. */
export function isTrackingParameter(name: string, value: string): boolean {
  if (OF_A_FAMILY.test(name) || MAIL_ADDRESS.test(value)) return true
  const lower = name.toLowerCase()
  return lower === 'cid' ? CID_THAT_TRACKS.test(value) : NAMES.has(lower)
}
