"""The table of mutants. A member of a setting becomes its default behind the door of its type; besides, there is a
mutant for each place that reads it, where there are several. A figure of a report becomes zero, `nil` or another figure."""

import reports
import settings
import timeouts
from model import Table

table = Table()
settings.add_to(table)
timeouts.add_to(table)
reports.add_to(table)
