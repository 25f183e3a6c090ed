"""The table of mutants. A mutant sets a member of the settings to its default at the door of its type. If several
places read the member, each has a mutant as well. A figure of a report becomes zero, `nil` or another figure."""

import reports
import settings
import timeouts
from model import Table

table = Table()
settings.add_to(table)
timeouts.add_to(table)
reports.add_to(table)
