/** Leads from `/docs/#operationId`, where the reference was one page, to the endpoint’s page. */

export function followOldAddress(): void {
  const follow = () => {
    const entry = document.getElementById(decodeURIComponent(location.hash.slice(1)))
    const link = entry?.matches('.index li') ? entry.querySelector('a') : null
    if (link) location.replace(link.href)
  }
  follow()
  addEventListener('hashchange', follow)
}
