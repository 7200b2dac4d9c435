import logging
import sys

handler = logging.StreamHandler(sys.stdout)
handler.setFormatter(logging.Formatter("%(levelname)-7s %(name)s: %(message)s"))
log = logging.getLogger("report")
log.setLevel(logging.INFO)
log.addHandler(handler)
log.propagate = False

log.debug("not shown")
log.info("loaded %d rows from %s", 3, "orders.csv")
log.warning("row %s has no amount", 2)
try:
    [][1]
except IndexError:
    log.error("failed: %s", "index")
