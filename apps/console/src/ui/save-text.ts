/** Give the person a text as a file. */
export function saveText(name: string, text: string, contentType = 'application/json'): void {
  const url = URL.createObjectURL(new Blob([text], { type: contentType }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
