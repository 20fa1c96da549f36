// Dialogs of the page: name and tags of an entry, and the confirmation before a deletion.

import { el, replace } from '../dom';
import { word } from '../language';

/** Shows a dialog until it is closed. `ok` performs the action; it returns a sentence if the server refused the action. */
function show(title: string, body: Node[], done: string, dangerous: boolean, ok: () => Promise<string | null>): void {
  const said = el('p', { class: 'bad', attr: { role: 'status' } });
  const yes = el('button', { class: dangerous ? 'bad' : '', attr: { type: 'submit' } }, done);
  const no = el('button', { class: 'quiet', attr: { type: 'button' } }, word('cancel'));
  const form = el('form', { attr: { method: 'dialog' } }, el('h2', { id: 'dialog-title' }, title), ...body, said, el('p', { class: 'buttons' }, yes, no));
  const dialog = el('dialog', { attr: { 'aria-labelledby': 'dialog-title' } }, form);
  no.addEventListener('click', () => dialog.close());
  dialog.addEventListener('close', () => dialog.remove());
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    yes.disabled = true;
    void ok().then((refused) => {
      yes.disabled = false;
      if (refused === null) dialog.close();
      else replace(said, refused);
    });
  });
  document.body.append(dialog);
  dialog.showModal();
}

export function nameDialog(folder: string, name: string, tags: string[], save: (name: string, tags: string[]) => Promise<string | null>): void {
  const nameField = el('input', { attr: { type: 'text', maxlength: 120, value: name, placeholder: folder } });
  const tagsField = el('input', { attr: { type: 'text', value: tags.join(', '), placeholder: word('tags_hint') } });
  show(word('name_and_tags'), [
    el('p', { class: 'note hostile' }, folder),
    el('label', null, word('name'), nameField),
    el('label', null, word('tags'), tagsField),
  ], word('save_name'), false, () => save(nameField.value, tagsField.value.split(/[,，;；]/).map((tag) => tag.trim()).filter(Boolean)));
}

export function deleteDialog(folders: string[], remove: () => Promise<string | null>): void {
  show(word('delete_title', folders.length), [
    el('ul', { class: 'plain doomed' }, ...folders.map((folder) => el('li', { class: 'hostile' }, folder))),
    el('p', { class: 'note' }, word('delete_note')),
  ], word('delete_yes'), true, remove);
}
