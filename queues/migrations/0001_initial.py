from __future__ import annotations

from django.db import migrations

from queues.store import schema


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    operations = [
        migrations.RunSQL(list(schema.SQLITE_INITIAL), list(schema.SQLITE_INITIAL_UNDO)),
    ]
