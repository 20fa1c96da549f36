// Creates elements. Text becomes text nodes, so that no label or message is interpreted as markup.

export type Child = Node | string | number | null | undefined | false;

type Handler = (event: never) => void;
interface Props {
  class?: string;
  id?: string;
  title?: string;
  /** Attributes without a property in this interface. */
  attr?: Record<string, string | number | boolean | null>;
  on?: Record<string, Handler>;
}

export function el<K extends keyof HTMLElementTagNameMap>(tag: K, props: Props | null, ...children: Child[]): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  if (props) {
    if (props.class) node.className = props.class;
    if (props.id) node.id = props.id;
    if (props.title) node.title = props.title;
    for (const [name, value] of Object.entries(props.attr ?? {})) {
      if (value !== null && value !== false) node.setAttribute(name, value === true ? '' : String(value));
    }
    for (const [name, handler] of Object.entries(props.on ?? {})) node.addEventListener(name, handler as EventListener);
  }
  add(node, children);
  return node;
}

export function add(node: Node, children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    node.appendChild(typeof child === 'object' ? child : document.createTextNode(String(child)));
  }
}

export function replace(node: Node, ...children: Child[]): void {
  while (node.firstChild) node.removeChild(node.firstChild);
  add(node, children);
}

const SVG = 'http://www.w3.org/2000/svg';
export function svg(tag: string, attr: Record<string, string | number>, ...children: Child[]): SVGElement {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attr)) node.setAttribute(name, String(value));
  add(node, children);
  return node;
}
