/**
 * Maps for the public report formats of large networks (docs/spec/networks.md#ready-maps).
 *
 * Names are compared without case, spaces and punctuation: `Order ID` also finds `orderId`.
 */
import type { NetworkMap } from './network-map.ts'

export const READY_MAPS: Readonly<Record<string, NetworkMap>> = {
  // Commission records. A correction is a separate record with a negative amount and the id of the
  // original action; amounts in US dollars; the sub id in `shopperId` (SID).
  cj: {
    date: ['eventDate'],
    posting_date: ['postingDate'],
    account: ['websiteId', 'publisherId'],
    advertiser: ['advertiserName', 'Advertiser'],
    sub_id: ['shopperId', 'SID'],
    transaction_id: ['commissionId'],
    original_id: ['originalActionId'],
    order_id: ['orderId'],
    revenue: ['saleAmountUsd', 'saleAmount'],
    earnings: [
      ...['pubCommissionAmountUsd', 'Publisher Commission (USD)', 'Publisher Commission'],
      'commissionAmount',
    ],
    status: {
      columns: ['actionStatus'],
      approved: ['locked', 'closed'],
      pending: ['new', 'extended'],
      declined: ['declined', 'reversed'],
      is_optional: true,
    },
  },
  // The signature orders report: one row per item, the sub id in `Member ID (U1)`. A correction is
  // a row with a negative amount and a later process date.
  rakuten: {
    date: ['Transaction Date'],
    posting_date: ['Process Date'],
    account: ['Publisher ID', 'SID'],
    advertiser: ['Advertiser Name'],
    sub_id: ['Member ID (U1)', 'U1'],
    transaction_id: ['Transaction ID', 'etransaction_id'],
    order_id: ['Order ID'],
    item: ['SKU', 'SKU Number'],
    revenue: ['Sales', 'Gross Sales'],
    earnings: ['Total Commission', 'Gross Total Commissions'],
    currency: ['Currency'],
  },
  // Transactions: amounts in the advertiser's currency, the sub id in the click reference.
  awin: {
    date: ['transactionDate'],
    account: ['publisherId'],
    advertiser: ['advertiserName', 'Advertiser', 'siteName', 'advertiserId'],
    sub_id: ['clickRefs.clickRef', 'clickRef'],
    transaction_id: ['id', 'Transaction ID'],
    order_id: ['orderRef', 'Order Reference'],
    revenue: ['saleAmount.amount', 'saleAmount'],
    earnings: ['commissionAmount.amount', 'commissionAmount', 'Commission'],
    currency: ['commissionAmount.currency', 'currency'],
    revenue_currency: ['saleAmount.currency'],
    status: {
      columns: ['commissionStatus', 'Transaction Status', 'Status'],
      approved: ['approved', 'confirmed', 'bonus'],
      pending: ['pending'],
      declined: ['declined', 'deleted'],
      is_optional: true,
    },
  },
  // The action listing, and the Actions call of the API. A reversed action keeps its id.
  impact: {
    date: ['EventDate', 'Action Date', 'Conversion Date', 'Date'],
    account: ['MediaId', 'Media Partner Id', 'Partner Property Id'],
    advertiser: ['CampaignName', 'Campaign', 'Program', 'Brand'],
    sub_id: ['SubId1', 'Sub Id 1', 'SubId'],
    transaction_id: ['ActionId', 'Id'],
    order_id: ['OrderId', 'Oid'],
    item: ['SKU'],
    revenue: ['Amount', 'SaleAmount'],
    earnings: ['Payout', 'Action Earnings', 'Action Cost', 'Earnings'],
    currency: ['Currency', 'Payout Currency'],
    status: {
      columns: ['State', 'Status', 'Action Status'],
      approved: ['approved', 'locked', 'paid', 'cleared'],
      pending: ['pending'],
      declined: ['reversed', 'rejected'],
      is_optional: true,
    },
  },
  // The earnings report: one row per product, day and tracking id. Its orders have no numbers.
  // Without a sub tag the publisher is the one whose slug is the tracking id.
  amazon: {
    date: ['Date Shipped', 'Date'],
    account: ['Tracking ID', 'Tag'],
    advertiser: ['Seller'],
    sub_id: ['ascsubtag', 'Sub Tag'],
    publisher: ['Tracking ID', 'Tag'],
    item: ['ASIN'],
    sales: ['Items Shipped', 'Qty'],
    revenue: ['Revenue', 'Product Revenue'],
    earnings: ['Ad Fees', 'Advertising Fees', 'Bounty Earnings', 'Commission Income', 'Earnings'],
    currency: ['Currency'],
  },
  // Conversion exports: the sub id in the publisher reference (`pubref`).
  partnerize: {
    date: ['conversion_time', 'conversion_date', 'Conversion Date/Time'],
    account: ['publisher_id'],
    advertiser: ['campaign_title', 'campaign_name', 'Campaign', 'advertiser_name'],
    sub_id: ['publisher_reference', 'pubref', 'Publisher Ref'],
    transaction_id: ['conversion_id'],
    order_id: ['conversion_reference', 'conversionref', 'Order Reference'],
    item: ['conversion_item_id', 'item_id', 'sku'],
    revenue: ['conversion_value.value', 'item_value', 'order_value', 'conversion_value', 'value'],
    earnings: [
      ...['conversion_value.publisher_commission', 'item_publisher_commission'],
      ...['publisher_commission', 'commission'],
    ],
    currency: ['publisher_currency', 'currency', 'Currency Code'],
    status: {
      columns: [
        ...['conversion_value.conversion_status', 'item_status', 'conversion_status', 'status'],
      ],
      approved: ['approved', 'paid'],
      pending: ['pending', 'mixed'],
      declined: ['rejected', 'declined'],
      is_optional: true,
    },
  },
  // Commission reports: the sub id in the custom id (`xcust`).
  skimlinks: {
    date: ['transaction_details.transaction_date', 'transaction_date', 'Sale Date', 'Date'],
    account: ['publisher_domain_id', 'domain_id', 'Domain', 'publisher_id'],
    advertiser: ['merchant_details.name', 'merchant_name', 'Merchant', 'Advertiser'],
    sub_id: ['click_details.custom_id', 'custom_id', 'xcust'],
    article_url: ['click_details.page_url', 'page_url', 'Page'],
    transaction_id: ['commission_id'],
    order_id: ['transaction_details.invoice_id', 'order_id', 'Order Reference'],
    revenue: [
      ...['transaction_details.basket.order_amount', 'basket.order_amount', 'order_amount'],
      ...['order_value', 'Sales'],
    ],
    earnings: [
      ...['transaction_details.basket.publisher_amount', 'basket.publisher_amount'],
      ...['publisher_amount', 'publisher_commission', 'Commission', 'Earnings'],
    ],
    currency: ['transaction_details.basket.currency', 'basket.currency', 'currency'],
    status: {
      columns: ['transaction_details.status', 'transaction_status', 'commission_status', 'status'],
      approved: ['active', 'approved', 'confirmed', 'paid'],
      pending: ['pending', 'open'],
      declined: ['cancelled', 'canceled', 'declined', 'rejected'],
      is_optional: true,
    },
  },
  // Transactions and the event breakdown report: the sub id in the EPI.
  tradedoubler: {
    date: ['timeOfTransaction', 'timeOfEvent', 'Time of Sale', 'Date'],
    account: ['siteId', 'sourceId', 'siteName', 'sourceName'],
    advertiser: ['programName', 'Program'],
    sub_id: ['epi1', 'epi'],
    transaction_id: ['transactionId', 'TD Transaction ID'],
    order_id: ['orderNR', 'Order Number', 'leadNR', 'Lead Number'],
    item: ['productNumber', 'productName'],
    revenue: ['orderValue', 'productValue', 'Sales Value'],
    earnings: ['affiliateCommission', 'publisherCommission', 'commission'],
    currency: ['currencyCode', 'currency', 'reportCurrencyCode'],
    status: {
      columns: ['pendingStatus', 'status', 'Transaction Status'],
      approved: ['A', 'approved', 'accepted', 'confirmed', 'paid'],
      pending: ['P', 'pending'],
      declined: ['D', 'declined', 'denied', 'deleted'],
      is_optional: true,
    },
  },
  // Transaction detail: a voided transaction keeps its id; the sub id is the affiliate's comment.
  shareasale: {
    date: ['Trans Date', 'Transaction Date'],
    account: ['User ID', 'Affiliate ID'],
    advertiser: [
      'Merchant Organization',
      'Merchant Name',
      'Organization',
      'Merchant',
      'Merchant ID',
    ],
    sub_id: ['Aff Comment', 'Affiliate Comment', 'Aff Track', 'afftrack', 'SubID'],
    transaction_id: ['Trans ID', 'Transaction ID'],
    order_id: ['Order Number', 'Order ID'],
    revenue: ['Trans Amount', 'Transaction Amount', 'Sale Amount', 'Amount'],
    earnings: ['Commission'],
    status: {
      columns: ['Voided', 'Void'],
      approved: ['', '0', 'no', 'n', 'false'],
      pending: [],
      declined: ['1', 'yes', 'y', 'true', 'voided'],
      is_optional: true,
    },
  },
}
