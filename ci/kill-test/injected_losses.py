"""A check that cannot fail is no check: each kind of loss is brought about by hand, and must be noticed."""

import shutil
import subprocess
import sys

import check
from gateway import Gateway
from ledger import Loss
from load import FILE, PROGRAM_FILE, SESSIONS, SKILLS, STATE


def all_are_noticed(home, ledger):
    """The ledger is that of a run whose last gateway was closed: nothing is under way."""
    whole = home.folder / "whole"
    shutil.copytree(home.data, whole)
    if found := noticed(home, ledger, lambda: None):
        raise Loss(f"a loss is seen where there is none: {found}")
    for name, bring_about in LOSSES.items():
        shutil.rmtree(home.data)
        shutil.copytree(whole, home.data)
        found = noticed(home, ledger, lambda: bring_about(home))
        if found is None:
            raise Loss(f"nobody notices: {name}")
        print(f"noticed: {name}: {found[:150]}", flush=True)


def noticed(home, ledger, bring_about):
    """What the check says, if it says something."""
    undo = bring_about()
    gateway = Gateway(home)
    try:
        check.check_everything(home, gateway, ledger)
        gateway.close()
        home.wait_until_gone()
        check.check_data_folder(home)
    except Loss as loss:
        return str(loss)
    finally:
        if not gateway.has_ended():
            gateway.kill()
        gateway.settle()
        if undo is not None:
            undo()
        home.wait_until_gone()
    return None
