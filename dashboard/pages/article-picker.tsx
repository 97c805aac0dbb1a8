/** Chooses one of the publisher's articles, which fills its name and URL into a form. */
import { useQuery } from '@tanstack/react-query'
import { articleHref } from '../format.ts'
import { usePublisher } from '../organization.ts'
import { publisherApi } from '../publisher-api.ts'
import { Combobox } from '../ui/combobox.tsx'

export interface ChosenArticle {
  readonly name: string
  readonly url: string
}

export function ArticlePicker(props: { onChoose: (article: ChosenArticle) => void }) {
  const { pub_id: pubId } = usePublisher()
  const articles = useQuery({
    queryKey: ['articles', pubId],
    queryFn: () => publisherApi.articles(pubId),
    staleTime: 60_000,
  })
  const rows = articles.data?.rows.filter(({ url }) => articleHref(url) !== undefined) ?? []
  if (rows.length === 0) return null
  const options = rows.map(({ url, name }) => ({ value: url, label: name || url }))
  return (
    <Combobox
      label="Choose one of your articles"
      placeholder="Search your articles"
      groups={[{ name: 'Your articles', options }]}
      value={null as string | null}
      onChange={(url) => {
        const article = rows.find((one) => one.url === url)
        if (article !== undefined) props.onChoose(article)
      }}
    >
      Choose one of your articles
    </Combobox>
  )
}
