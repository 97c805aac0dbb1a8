/** Drawn pictures of the demo's goods: a shape per category, a colour per product. */
import type { Category, DemoProduct } from './products.ts'

const SHAPES: Record<Category, string> = {
  kettle:
    '<path d="M120 250h130l-14-104q-6-34-51-34t-51 34z"/><path d="M134 168q-54 6-62-60" class="line"/><path d="M248 150q58-8 50 62-2 20-34 22" class="line"/><path d="M160 104h50l-8-18h-34z"/><circle cx="185" cy="76" r="9"/>',
  grinder:
    '<rect x="142" y="120" width="86" height="140" rx="12"/><path d="M150 118l-14-40h98l-14 40z"/><path d="M185 76V58h62" class="line"/><circle cx="252" cy="58" r="11"/><path d="M142 190h86" class="cut"/>',
  knife:
    '<path d="M44 196q120-66 204-56v44q-90 26-204 12z"/><rect x="252" y="140" width="88" height="40" rx="14"/><circle cx="276" cy="160" r="4" class="dot"/><circle cx="316" cy="160" r="4" class="dot"/>',
  headlamp:
    '<path d="M84 190q0-92 101-92t101 92" class="line wide"/><rect x="140" y="150" width="90" height="70" rx="20"/><circle cx="185" cy="185" r="22" class="dot"/><path d="M150 240l-22 26M185 246v32M220 240l22 26" class="line"/>',
  backpack:
    '<path d="M120 260V146q0-62 65-62t65 62v114q0 14-14 14H134q-14 0-14-14z"/><path d="M160 86q0-26 25-26t25 26" class="line"/><rect x="142" y="188" width="86" height="62" rx="10" class="cut fill"/><path d="M142 168h86" class="cut"/>',
  tent: '<path d="M60 256L185 92l125 164z"/><path d="M185 92l-34 164h68z" class="cut fill"/><path d="M185 92V66" class="line"/><path d="M40 256h290" class="line"/>',
}

export function productPicture({ category, hue, name }: DemoProduct): string {
  const [soft, strong, deep] = [`hsl(${hue} 38% 92%)`, `hsl(${hue} 42% 46%)`, `hsl(${hue} 46% 28%)`]
  const label = name.replace(/[&<>"]/g, '')
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 370 320" role="img" aria-label="${label}">
<style>path,rect,circle{fill:${strong}}.fill{fill:${deep}}.dot{fill:${soft}}
.line{fill:none;stroke:${deep};stroke-width:9;stroke-linecap:round}.wide{stroke-width:16}
.cut{fill:none;stroke:${soft};stroke-width:6}</style>
<rect width="370" height="320" style="fill:${soft}"/>${SHAPES[category]}</svg>`
}
