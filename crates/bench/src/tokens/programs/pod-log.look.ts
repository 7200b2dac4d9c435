import { kubectl_logs } from "./servers/kubernetes";
export default await kubectl_logs({ resourceType: "pod", name: "checkout-7d9f8b6c5-x2x4q", namespace: "shop", tail: 4 });
