/** Files that the build puts into a script as text. */
declare module '*?raw' {
  const text: string
  export default text
}
