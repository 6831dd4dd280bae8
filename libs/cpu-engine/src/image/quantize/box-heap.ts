/** A box of colours, by their numbers. */
export interface ColourBox {
  colours: number[];
  /** Pixels of those colours. */
  pixels: number;
  /** After a cut: the bright half, then the dark one. */
  halves: [ColourBox, ColourBox] | null;
}

/** A binary heap of boxes by pixels, the fullest on top. Which of two equal ones comes first is Pillow's (QuantHeap.c). */
export class BoxHeap {
  private readonly boxes: ColourBox[] = [];

  add(box: ColourBox): void {
    let at = this.boxes.length;
    while (at > 0) {
      const parent = ((at + 1) >> 1) - 1;
      const above = this.boxes[parent] as ColourBox;
      if (box.pixels <= above.pixels) break;
      this.boxes[at] = above;
      at = parent;
    }
    this.boxes[at] = box;
  }

  remove(): ColourBox | undefined {
    const top = this.boxes[0];
    const last = this.boxes.pop();
    if (!last || this.boxes.length === 0) return top;
    let at = 0;
    for (let child = 1; child < this.boxes.length; child = 2 * at + 1) {
      const [left, right] = [this.boxes[child] as ColourBox, this.boxes[child + 1]];
      const fuller = right && left.pixels < right.pixels ? child + 1 : child;
      if (last.pixels > (this.boxes[fuller] as ColourBox).pixels) break;
      this.boxes[at] = this.boxes[fuller] as ColourBox;
      at = fuller;
    }
    this.boxes[at] = last;
    return top;
  }
}
