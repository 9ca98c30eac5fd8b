"use strict";

// Tells the page around the frame how the checkout ended, and nothing else.
(() => {
  const { outcome, page } = document.currentScript.dataset;
  window.parent.postMessage({ type: "svc.checkout", outcome }, page);
})();
