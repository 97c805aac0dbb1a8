/** The script of the documentation. Pages are complete without it, except for the search. */
import { addCopyButtons } from './copy.ts'
import { rememberLanguage } from './language.ts'
import { followOldAddress } from './old-address.ts'
import { fillOwnValues } from './own-values.ts'
import { applyChosenScheme } from './scheme.ts'
import { enableSearch } from './search.ts'

applyChosenScheme()
followOldAddress()
addCopyButtons()
rememberLanguage()
enableSearch()
void fillOwnValues()
