/**
 * Reads whether a listing is in stock.
 *
 * Spellings may differ in case, spaces, punctuation and schema.org URLs; the words are those of the
 * large languages. In stock means that a reader can buy it now and have it shipped. A pre-order, a
 * back-order or an unknown word is out of stock: a reader must never be sent to a missing product.
 * See docs/spec/feeds.md#availability.
 */

/** Accents of Latin letters: many feeds lose them, `epuise` for `épuisé`. */
const ACCENTS = /[\u0300-\u036f]/g

const IN_STOCK = wordSet(`
  in stock, in store only, online only, limited availability, limited stock,
  low stock, available,
  available for order, available now, in stock soon to ship, on stock, stocked,
  yes, y, true, t, on,
  active, enabled, published, live, ships today, ready to ship, add to cart,
  few left, last items
  auf Lager, lagernd, lieferbar, sofort verfuegbar, sofort lieferbar, sofort verfügbar, verfügbar,
  vorrätig, vorhanden,
  am Lager, ab Lager, ja, j, wenige verfügbar, nur noch wenige, verfuegbar, vorraetig,
  sofort verfuegbar
  en stock, disponible, disponibles, en magasin, oui, dispo,
  disponible immédiatement, stock limité,
  derniers articles en stock, en existencia, en existencias, hay existencias,
  hay stock, con stock,
  sí, si, disponibilidad inmediata, pocas unidades, últimas unidades
  disponibile, disponibili, in magazzino, disponibilità immediata,
  pronta consegna, in giacenza,
  em estoque, em stock, disponível, disponivel, sim, pronta entrega, estoque disponível
  op voorraad, voorradig, leverbaar, beschikbaar, uit voorraad leverbaar, direct leverbaar
  w magazynie, dostępny, dostępna, dostępne, na stanie, tak, na magazynie, dostepny
  i lager, finns i lager, på lager, på lagret, tillgänglig, tilgjengelig, tilgængelig, ja,
  lagervara, varastossa, saatavilla, saatavana, kyllä, heti saatavilla
  skladem, na skladě, sklade, na sklade, k dispozici, dostupné, dostupný, ano, áno, skladom
  raktáron, készleten, elérhető, igen, în stoc, in stoc, disponibil, da,
  na zalihi, na stanju, dostupno,
  na zalogi, на склад, в наличност, наличен, налично, в наявності,
  є в наявності, так, на складі
  в наличии, есть в наличии, есть, на складе, да, доступен, доступно, имеется
  stokta, stokta var, mevcut, var, evet, σε απόθεμα, διαθέσιμο, άμεσα διαθέσιμο, ναι
  在庫あり, 在庫有り, 在庫有, 販売中, 购买, 有货, 有貨, 现货, 現貨, 有库存, 有庫存, 재고있음, 재고 있음, 판매중, 구매가능
  متوفر, متاح, موجود, في المخزون, נמצא במלאי, במלאי, זמין, יש במלאי, उपलब्ध, स्टॉक में
  tersedia, ada stok, ready stock, stok tersedia, còn hàng, có hàng, มีสินค้า,
  มีสินค้าในสต็อก, พร้อมส่ง
  موجود است, মজুদ আছে`)

const OUT_OF_STOCK = wordSet(`
  out of stock, preorder, pre order, presale, backorder, back order,
  backordered, on backorder,
  available on backorder, made to order, sold out, discontinued, reserved,
  unavailable, none left,
  not available, no stock, not in stock, temporarily out of stock, temporarily unavailable,
  currently unavailable, coming soon, out, no, n, false, f, off, inactive,
  disabled, draft, archived,
  deleted, hidden, on order, special order, on request, to order, end of life,
  delisted, suspended
  nicht auf Lager, nicht lieferbar, nicht verfügbar, nicht vorrätig,
  ausverkauft, vergriffen,
  derzeit nicht verfügbar, nicht mehr lieferbar, vorbestellbar, vorbestellung, nachbestellt,
  nicht verfuegbar, nicht vorraetig,
  auf Bestellung, auf Anfrage, nein, momentan nicht verfügbar, nicht am Lager
  rupture de stock, rupture, en rupture, en rupture de stock, épuisé, indisponible,
  non disponible, non,
  sur commande, précommande, hors stock, bientôt disponible, plus disponible, pas en stock
  agotado, sin existencias, sin stock, no disponible, fuera de stock, bajo pedido, preventa,
  no hay existencias, próximamente, reserva, por encargo
  esaurito, non disponibile, non in magazzino, su ordinazione, preordine,
  no disponibile, terminato,
  in arrivo, esgotado, fora de estoque, sem estoque, sem stock, indisponível,
  não disponível, não,
  nao, pré venda, sob encomenda, em falta
  niet op voorraad, uitverkocht, niet leverbaar, niet beschikbaar, nee,
  tijdelijk uitverkocht,
  niedostępny, niedostępna, niedostępne, brak w magazynie, brak, wyprzedane,
  nie, na zamówienie,
  przedsprzedaż, ej i lager, slut i lager, slutsåld, inte i lager,
  ikke på lager, utsolgt, udsolgt,
  nej, nei, ikke tilgjengelig, beställningsvara, bestillingsvare, loppu,
  ei varastossa, loppunut,
  ei saatavilla, ei, loppuunmyyty, ennakkotilaus
  není skladem, vyprodáno, nedostupné, ne, na objednávku, nie je skladom,
  vypredané, předobjednávka,
  nincs raktáron, elfogyott, nem elérhető, nem, nincs készleten, stoc epuizat, indisponibil,
  nu este în stoc, nu, fără stoc, изчерпан, няма наличност, няма в наличност, не е наличен,
  нема в наявності, немає в наявності, ні, немає, закінчився
  нет в наличии, нет, распродано, отсутствует, под заказ, предзаказ,
  закончился, недоступен, нету
  stokta yok, tükendi, yok, hayır, mevcut değil, ön sipariş, εξαντλημένο, μη διαθέσιμο, όχι,
  εκτός αποθέματος, κατόπιν παραγγελίας
  在庫なし, 在庫無し, 在庫切れ, 品切れ, 売り切れ, 予約, 予約受付中, 缺货, 缺貨, 无货, 無貨, 售罄, 售完, 无库存, 預購, 预售
  품절, 재고없음, 재고 없음, 일시품절, 예약판매, غير متوفر, نفد من المخزون, نفذ, غير متاح,
  אזל מהמלאי, לא במלאי, לא זמין
  स्टॉक में नहीं, अनुपलब्ध, habis, stok habis, tidak tersedia, kosong,
  hết hàng, tạm hết hàng, สินค้าหมด, หมด
  ناموجود, nema na zalihi, nema na stanju, nije dostupno, ni na zalogi`)

function wordSet(text: string): ReadonlySet<string> {
  return new Set(text.split(/[,\n]/).map((word) => plainWord(word.toLowerCase())))
}

/** A word in its normalised form: without spaces, punctuation and accents. */
function plainWord(lowered: string): string {
  return lowered
    .normalize('NFD')
    .replace(ACCENTS, '')
    .normalize('NFC')
    .replace(/[\s_\-–.!*"'’()]+/g, '')
}

const COUNT = /^[<>~≥+]*\s*(-?\d+(?:[.,]\d+)?)\s*\+?$/
const SCHEMA_ORG = /^(?:https?:\/\/)?(?:www\.)?schema\.org\//
/** `5 in stock`, `in stock (12)`, `noch 3 verfügbar`. */
const WITH_COUNT = /^(\d{1,6})\s+(\D+)$|^(\D+?)[\s:(]+(\d{1,6})\)?$/

/** A feed repeats a few words; a column of other text must not fill the memory. */
const REMEMBERED_WORDS_MAX = 1_000
const REMEMBERED_LENGTH_MAX = 40
const remembered = new Map<string, boolean | null>()

/**
 * True or false for a known word; null for an unknown one.
 *
 * An empty cell means in stock: the merchant lists the product without a restriction.
 */
export function readAvailability(written: string): boolean | null {
  const known = remembered.get(written)
  if (known !== undefined) return known
  const found = lookUp(written)
  if (remembered.size < REMEMBERED_WORDS_MAX && written.length <= REMEMBERED_LENGTH_MAX) {
    remembered.set(written, found)
  }
  return found
}

function lookUp(written: string): boolean | null {
  const text = written.trim().toLowerCase()
  if (text === '') return true
  // A column with the number in stock; oversold shops count below zero.
  const count = COUNT.exec(text)?.[1]
  if (count !== undefined) return Number(count.replace(',', '.')) > 0
  const word = plainWord(text.replace(SCHEMA_ORG, ''))
  if (word === '' || IN_STOCK.has(word)) return true
  if (OUT_OF_STOCK.has(word)) return false
  const [, before, after, first, last] = WITH_COUNT.exec(text) ?? []
  const left = before ?? last
  if (left === undefined || !IN_STOCK.has(plainWord(after ?? first ?? ''))) return null
  return Number(left) > 0
}
