-- SPDX-License-Identifier: MIT
PRAGMA user_version
