/** Short messages about finished work, in the corner of the page. Screen readers announce them. */
import { Toast } from '@base-ui/react/toast'
import { Icon } from './icon.tsx'
import { POPUP } from './popup.ts'

export const messages = Toast.createToastManager()

export function Toasts() {
  return (
    <Toast.Provider toastManager={messages}>
      <Toast.Portal>
        <Toast.Viewport className="fixed right-4 bottom-4 z-40 flex w-80 max-w-[calc(100vw-2rem)] flex-col gap-2 print:hidden">
          <ToastList />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  )
}

function ToastList() {
  const { toasts } = Toast.useToastManager()
  return toasts.map((toast) => (
    <Toast.Root
      key={toast.id}
      toast={toast}
      className={`${POPUP} flex items-start gap-3 p-3 text-sm transition-opacity data-ending-style:opacity-0 data-starting-style:opacity-0`}
    >
      <Toast.Content className="min-w-0 grow">
        <Toast.Title className="wrap-anywhere" />
      </Toast.Content>
      <Toast.Close aria-label="Close" className="-m-1 p-1 text-soft hover:text-ink">
        <Icon name="close" size={14} />
      </Toast.Close>
    </Toast.Root>
  ))
}
