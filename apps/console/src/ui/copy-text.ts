/**
 * Put a text on the clipboard. `navigator.clipboard` exists only where the page came over HTTPS or from this machine; elsewhere the
 * browser's own act of copying is given the text.
 *
 * @throws Error when the browser refuses.
 */
export async function copyText(text: string): Promise<void> {
  if ('clipboard' in navigator) return navigator.clipboard.writeText(text);
  const put = (event: ClipboardEvent): void => {
    event.clipboardData?.setData('text/plain', text);
    event.preventDefault();
  };
  document.addEventListener('copy', put, { once: true, capture: true });
  try {
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- nothing else copies on a page that came over plain HTTP
    if (!document.execCommand('copy')) throw new Error('Select the text and copy it yourself.');
  } finally {
    document.removeEventListener('copy', put, { capture: true });
  }
}
