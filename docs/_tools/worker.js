// A page opened from a disk may not start a worker. Let it run in a hidden frame instead, so that search works there too.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.srcdoc = "<!doctype html><body>";
      frame.onload = () => {
        const inside = frame.contentWindow;
        inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
        const script = inside.document.createElement("script");
        script.src = address;
        script.onload = () => {
          this.inside = inside;
          this.waiting.splice(0).forEach((data) => this.postMessage(data));
        };
        inside.document.body.append(script);
      };
      document.documentElement.append(frame);
    }

    postMessage(data) {
      if (this.inside) this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data }));
      else this.waiting.push(data);
    }

    terminate() {}
  };
}
