"""Folders for tests: an empty workspace, and trees beside it."""

import os
import sys
import tempfile
import unittest

from gristmill_guest import catalogue, files, skills, tool_files, trees


class InAWorkspace(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        self.root = folder.name
        os.chdir(folder.name)
        self.addCleanup(setattr, tool_files, "WORKSPACE", tool_files.WORKSPACE)
        tool_files.WORKSPACE = self.root


class BesideTrees(InAWorkspace):
    """`/servers` and `/skills` lie in the workspace here; `tree` maps paths to texts."""

    tree = {}

    def setUp(self):
        super().setUp()
        for path, text in self.tree.items():
            files.write_file(path, text)
        for module, name, value in (
            (catalogue, "SERVERS", self.root + "/servers"),
            (skills, "SKILLS", self.root + "/skills"),
        ):
            self.addCleanup(setattr, module, name, getattr(module, name))
            setattr(module, name, value)
        trees.begin_run()
        finder = trees.TreeFinder()
        sys.meta_path.insert(0, finder)
        self.addCleanup(sys.meta_path.remove, finder)
        self.addCleanup(trees.begin_run)
