/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "settings.h"

#include <errno.h>
#include <string.h>

#include "journal.h"
#include "lock.h"
#include "util/util.h"

struct settings {
        int root_fd;
        const struct log *log;
        char *path;
        struct journal journal;
        bool committed;
        bool all_pending;   /* the file marks every setting as pending: a change of mode is under way */
        /* The file lags behind memory, but is not wrong. */
        bool dirty;
};

static int cannot_lock(const struct log *log, const char *journal, int err, pid_t pid)
{
        if (err == -EBUSY && pid)
                log_error(log,
                          "a calibration is running already (process %d); wait for its end, or end it with "
                          "`kill %d`",
                          (int)pid, (int)pid);
        else if (err == -EBUSY)
                log_error(log, "a calibration is running already; wait for its end");
        else
                log_error(log, "%s.lock: cannot be locked: %s", journal, util_reason(err));
        return err;
}

int settings_lock(const char *journal, const struct log *log)
{
        pid_t pid = 0;
        int err = lock_take(journal, &pid);

        return err ? cannot_lock(log, journal, err, pid) : 0;
}

void settings_unlock(void)
{
        lock_give();
}

int settings_open(int root_fd, const char *journal, const struct log *log, struct settings **ret)
{
        struct settings *settings = calloc(1, sizeof(*settings));
        int err;

        if (!settings)
                return -ENOMEM;
        settings->root_fd = root_fd;
        settings->log = log;
        settings->path = strdup(journal);
        err = settings->path ? settings_lock(journal, log) : -ENOMEM;
        if (!err && access(journal, F_OK) == 0) {
                settings_unlock();
                log_error(log,
                          "%s: left by an interrupted calibration; run `joulecast calibrate --restore` first",
                          journal);
                err = -EEXIST;
        }
        if (err) {
                free(settings->path);
                free(settings);
                return err;
        }
        journal_boot_id(root_fd, settings->journal.boot_id);
        *ret = settings;
        return 0;
}

static int flush(struct settings *settings, bool all_pending)
{
        int err = journal_save(&settings->journal, all_pending, settings->path, settings->log);

        if (err)
                return err;
        settings->all_pending = all_pending;
        settings->dirty = false;
        return 0;
}

void settings_close(struct settings *settings)
{
        if (!settings)
                return;
        if (settings->committed && (settings->dirty || settings->all_pending))
                flush(settings, false); /* logged; the file only claims more than needed */
        journal_clear(&settings->journal);
        free(settings->path);
        free(settings);
        settings_unlock();
}

/*
 * The kernel shows a limit in place of a higher request. The original request is then unknown; most likely it
 * was the maximum.
 */
static void see_behind_limit(const struct settings *settings, struct journal_entry *entry)
{
        const char *slash = strrchr(entry->name, '/');
        char path[SETTING_NAME_MAX + 32], text[SETTING_VALUE_MAX];

        if (!slash || strcmp(slash, "/scaling_max_freq"))
                return;
        snprintf(path, sizeof(path), "%.*s/cpuinfo_max_freq", (int)(slash - entry->name) - 1,
                 entry->name + 1);
        if (util_read_at(settings->root_fd, path, text, sizeof(text)) < 0)
                return;
        text[strcspn(text, "\n")] = '\0';
        if (attribute_restorable(attribute_find(entry->name), text) &&
            attribute_held_down(settings->root_fd, entry->name, entry->original, text))
                memcpy(entry->original, text, sizeof(text));
}

static int add_one(struct settings *settings, const char *name)
{
        struct journal_entry entry = { .state = JOURNAL_UNTOUCHED };
        int err;

        if (!attribute_find(name))
                return -EPERM;
        if (settings_original(settings, name))
                return 0;
        err = attribute_read(settings->root_fd, name, entry.original);
        if (err)
                return err;
        snprintf(entry.name, sizeof(entry.name), "%s", name);
        attribute_device(settings->root_fd, name, entry.device, sizeof(entry.device));
        see_behind_limit(settings, &entry);
        return journal_add(&settings->journal, &entry);
}

/* Adds the settings in the same folder that a write to @name also changes, if this machine has them. */
static int add_affected(struct settings *settings, const char *name)
{
        const struct attribute *attribute = attribute_find(name);

        for (size_t i = 0; i < ARRAY_SIZE(attribute->affects) && attribute->affects[i]; i++) {
                char other[SETTING_NAME_MAX + 1];
                int err;

                if (*attribute->affects[i] == '/')
                        continue; /* in other folders: the part that drives them adds them */
                snprintf(other, sizeof(other), "%.*s/%s", (int)(strrchr(name, '/') - name), name,
                         attribute->affects[i]);
                err = add_one(settings, other);
                if (err == -ENOMEM || err == -EOVERFLOW)
                        return err;
                if (err && err != -ENOENT)
                        log_warning(settings->log,
                                    "%s: cannot be read, so it is not restored if it changes with %s: %s",
                                    other, name, strerror(-err));
        }
        return 0;
}

int settings_add(struct settings *settings, const char *name)
{
        int err = settings->committed ? -EBUSY : add_one(settings, name);

        return err ? err : add_affected(settings, name);
}

int settings_add_file(struct settings *settings, const char *path)
{
        struct journal_entry entry = { .state = JOURNAL_FILE };

        if (settings->committed)
                return -EBUSY;
        if (!attribute_scratch_name(path))
                return -EPERM;
        if (journal_find(&settings->journal, path))
                return 0;
        snprintf(entry.name, sizeof(entry.name), "%s", path);
        return journal_add(&settings->journal, &entry);
}

int settings_commit(struct settings *settings)
{
        int err = flush(settings, false);

        settings->committed = !err;
        return err;
}

int settings_begin_changes(struct settings *settings)
{
        return settings->all_pending ? 0 : flush(settings, true);
}

int settings_end_changes(struct settings *settings)
{
        return settings->all_pending || settings->dirty ? flush(settings, false) : 0;
}

/* From here on the setting, and all that a write to it changes, may be ours. */
static void mark_pending(struct settings *settings, struct journal_entry *entry, const char *value)
{
        const struct attribute *attribute = attribute_find(entry->name);

        for (size_t i = 0; i < settings->journal.n; i++) {
                struct journal_entry *other = &settings->journal.entries[i];

                if (other->state != JOURNAL_FILE && attribute_affects(attribute, entry->name, other->name))
                        other->state = JOURNAL_PENDING;
        }
        entry->state = JOURNAL_PENDING;
        snprintf(entry->written, sizeof(entry->written), "%s", value);
}

/* Writing the same value again changes nothing else, so the journal stays true. */
static bool is_known(const struct journal_entry *entry, const char *value)
{
        return entry->state == JOURNAL_OURS && strcmp(entry->written, value) == 0 &&
               !attribute_find(entry->name)->affects[0];
}

int settings_before(struct settings *settings, const char *name, const char *value)
{
        struct journal_entry *entry = journal_find(&settings->journal, name);

        if (!entry || entry->state == JOURNAL_FILE || !settings->committed)
                return -EPERM;
        if (!attribute_writable(attribute_find(name), value) && strcmp(value, entry->original))
                return -ERANGE;
        if (is_known(entry, value))
                return 0;
        mark_pending(settings, entry, value);
        return settings->all_pending ? 0 : flush(settings, false);
}

static int read_back(struct settings *settings, struct journal_entry *entry)
{
        int err = attribute_read(settings->root_fd, entry->name, entry->read);

        if (err) {
                entry->read[0] = '\0';
                return err; /* it stays pending */
        }
        entry->state = JOURNAL_OURS;
        if (!entry->written[0] && strcmp(entry->read, entry->original) == 0)
                entry->state = JOURNAL_UNTOUCHED;
        settings->dirty = true;
        return 0;
}

int settings_after(struct settings *settings, const char *name)
{
        struct journal_entry *entry = journal_find(&settings->journal, name);
        const struct attribute *attribute = entry ? attribute_find(name) : NULL;
        int err;

        if (!attribute)
                return -EPERM;
        err = read_back(settings, entry);
        for (size_t i = 0; i < settings->journal.n; i++) {
                struct journal_entry *other = &settings->journal.entries[i];

                /* If it cannot be read now (no setspeed under this governor) it stays pending. */
                if (other->state == JOURNAL_PENDING && attribute_affects(attribute, name, other->name))
                        read_back(settings, other);
        }
        return err;
}

int settings_write(struct settings *settings, const char *name, const char *value)
{
        int err = settings_before(settings, name, value), after;

        if (err)
                return err;
        err = attribute_write(settings->root_fd, name, value);
        after = settings_after(settings, name); /* also after a failure, which may have changed something */
        return err ? err : after;
}

/* The value that the machine should show; NULL: not known, or not looked at. */
static const char *value_of(const struct journal_entry *entry)
{
        const struct attribute *attribute = entry->state == JOURNAL_FILE ? NULL : attribute_find(entry->name);
        const char *value = entry->state == JOURNAL_OURS ? entry->read : entry->original;

        if (!attribute || !attribute->watched || entry->state == JOURNAL_PENDING || !value[0])
                return NULL;
        return attribute->none && strcmp(attribute->none, value) == 0 ? NULL : value;
}

/* One that cannot be read, such as that of a CPU that went offline, was not changed. */
static bool was_changed(const struct settings *settings, const char *name, const char *value)
{
        char now[SETTING_VALUE_MAX];

        return attribute_read(settings->root_fd, name, now) == 0 && strcmp(now, value) != 0 &&
               !attribute_held_down(settings->root_fd, name, now, value);
}

#define REPEATS 3 /* a minimum may wait for its maximum, and a governor changes others */

int settings_repeat(struct settings *settings, char changed[SETTING_NAME_MAX + 1])
{
        _cleanup_free_ char(*values)[SETTING_VALUE_MAX] = calloc(settings->journal.n + 1, sizeof(*values));
        bool differs = true;
        int err = 0;

        if (!values)
                return -ENOMEM;
        changed[0] = '\0';
        for (size_t i = 0; i < settings->journal.n; i++) /* copied first: writing one changes the records of others */
                if (value_of(&settings->journal.entries[i]))
                        snprintf(values[i], sizeof(values[i]), "%s", value_of(&settings->journal.entries[i]));
        for (int pass = 0; differs && pass <= REPEATS; pass++) {
                differs = false;
                for (size_t i = 0; i < settings->journal.n; i++) {
                        const char *name = settings->journal.entries[i].name;

                        if (!values[i][0] || !was_changed(settings, name, values[i]))
                                continue;
                        if (!changed[0])
                                snprintf(changed, SETTING_NAME_MAX + 1, "%s", name);
                        differs = true;
                        err = pass < REPEATS ? settings_write(settings, name, values[i]) : err;
                        if (err == -ENOMEM)
                                return err;
                }
        }
        return differs ? -EIO : 0;
}

const char *settings_original(const struct settings *settings, const char *name)
{
        const struct journal_entry *entry = journal_find(&settings->journal, name);

        return entry && entry->state != JOURNAL_FILE ? entry->original : NULL;
}

bool settings_show(const struct settings *settings, const char *name, const char *value)
{
        char now[SETTING_VALUE_MAX];

        return attribute_read(settings->root_fd, name, now) == 0 && strcmp(now, value) == 0;
}
