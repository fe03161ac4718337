/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Restores the settings in the journal, except those that somebody else has changed since. */

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "journal.h"
#include "settings.h"
#include "shutdown.h"
#include "util/util.h"

/*
 * One setting may have to wait for another: minimum for maximum, speed for governor, maximum for boost. No
 * chain is longer.
 */
#define PASSES 5

/* Drivers may appear late after boot; settings that are missing after this time count as gone. */
#define PROBING_S 120.0

enum verdict {
        VERDICT_KEPT,     /* is as it was */
        VERDICT_LATER,    /* cannot be read now: the radio is off, another governor is set */
        VERDICT_OURS,     /* to be restored */
        VERDICT_RESTORED,
        VERDICT_LEFT,
        VERDICT_FAILED,
};

struct restore {
        int root_fd;
        const char *path;
        const struct log *log;
        struct journal journal;
        bool rebooted;
        enum verdict *verdicts;        /* one per entry */
};

static double uptime_s(int root_fd)
{
        char text[64];
        double uptime;

        if (util_read_at(root_fd, "proc/uptime", text, sizeof(text)) < 0)
                return INFINITY;
        text[strcspn(text, " \n")] = '\0';
        return util_parse_double(text, &uptime) < 0 ? INFINITY : uptime;
}

static enum verdict fail(const struct restore *restore, const struct journal_entry *entry, int err)
{
        if (entry->state == JOURNAL_FILE)
                log_error(restore->log,
                          "%s: cannot be removed: %s; remove it by hand, or try `joulecast calibrate "
                          "--restore` again",
                          entry->name, strerror(-err));
        else
                log_error(restore->log,
                          "%s: cannot be restored to %s: %s; set it by hand, or try `joulecast calibrate "
                          "--restore` again",
                          entry->name, entry->original, strerror(-err));
        return VERDICT_FAILED;
}

static enum verdict gone(const struct restore *restore, const struct journal_entry *entry)
{
        if (restore->rebooted && uptime_s(restore->root_fd) < PROBING_S) {
                log_error(restore->log, "%s: not available yet; it will be restored to %s", entry->name,
                          entry->original);
                return VERDICT_FAILED;
        }
        log_warning(restore->log, "%s: its device is gone, so it is not restored to %s", entry->name,
                    entry->original);
        return VERDICT_LEFT;
}

/*
 * After a power cut a radio comes back as systemd saved it some seconds earlier: perhaps off, where we had
 * just switched it on.
 */
static bool was_switch(const struct restore *restore, const struct journal_entry *entry)
{
        return restore->rebooted && entry->state == JOURNAL_OURS && attribute_find(entry->name)->max == 1;
}

static bool is_ours(const struct restore *restore, const struct journal_entry *entry, const char *now)
{
        if (entry->state == JOURNAL_PENDING || was_switch(restore, entry))
                return true;
        return entry->state == JOURNAL_OURS &&
               (strcmp(now, entry->read) == 0 || strcmp(now, entry->written) == 0 ||
                attribute_held_down(restore->root_fd, entry->name, now, entry->read));
}

/* An untouched setting that a limit hides is as it was. */
static bool is_original(const struct restore *restore, const struct journal_entry *entry, const char *now)
{
        if (strcmp(now, entry->original) == 0)
                return entry->state != JOURNAL_OURS ||
                       !attribute_held_down(restore->root_fd, entry->name, now, entry->read);
        return entry->state == JOURNAL_UNTOUCHED &&
               attribute_held_down(restore->root_fd, entry->name, now, entry->original);
}

static bool same_device(const struct restore *restore, const struct journal_entry *entry)
{
        char device[JOURNAL_DEVICE_MAX];

        attribute_device(restore->root_fd, entry->name, device, sizeof(device));
        return !entry->device[0] || strcmp(device, entry->device) == 0;
}

static enum verdict judge_setting(const struct restore *restore, const struct journal_entry *entry)
{
        const struct attribute *attribute = attribute_find(entry->name);
        char now[SETTING_VALUE_MAX];
        int err;

        if (restore->rebooted && !attribute->persists)
                return VERDICT_KEPT; /* the reboot restored it */
        if (attribute->none && strcmp(attribute->none, entry->original) == 0)
                return VERDICT_KEPT; /* disappears with the setting that created it */
        err = same_device(restore, entry) ? attribute_read(restore->root_fd, entry->name, now) : -ENOENT;
        if (err == -ENOENT || err == -ENODEV || err == -ENXIO)
                return entry->state == JOURNAL_UNTOUCHED ? VERDICT_KEPT : gone(restore, entry);
        if (err)
                return entry->state == JOURNAL_UNTOUCHED ? VERDICT_KEPT : VERDICT_LATER;
        if (is_original(restore, entry, now))
                return VERDICT_KEPT;
        if (is_ours(restore, entry, now))
                return VERDICT_OURS;
        log_warning(restore->log,
                    "%s: left at %s, which is neither its original value (%s) nor ours (%s)",
                    entry->name, now, entry->original,
                    entry->state == JOURNAL_OURS ? entry->read : "nothing");
        return VERDICT_LEFT;
}

/* The storage may be unmounted or unplugged: our file may still be there. */
static enum verdict folder_gone(const struct restore *restore, const struct journal_entry *entry)
{
        if (restore->rebooted && uptime_s(restore->root_fd) < PROBING_S) {
                log_error(restore->log, "%s: its folder is not available yet; it will be removed",
                          entry->name);
                return VERDICT_FAILED;
        }
        log_warning(restore->log, "%s: its folder is gone; remove the file by hand if it appears again",
                    entry->name);
        return VERDICT_LEFT;
}

/* Removes a regular file of ours with our name, not through a link; its folder may be anywhere. */
static enum verdict remove_scratch(const struct restore *restore, const struct journal_entry *entry)
{
        const char *base = strrchr(entry->name, '/') + 1;
        _cleanup_free_ char *folder = strndup(entry->name, (size_t)(base - 1 - entry->name));
        _cleanup_close_ int fd = -1;
        struct stat info;

        if (!folder)
                return fail(restore, entry, -ENOMEM);
        fd = openat(restore->root_fd, *folder ? folder + 1 : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return errno == ENOENT ? folder_gone(restore, entry) : fail(restore, entry, -errno);
        if (fstatat(fd, base, &info, AT_SYMLINK_NOFOLLOW) < 0)
                return errno == ENOENT ? VERDICT_KEPT : fail(restore, entry, -errno);
        if (!S_ISREG(info.st_mode) || info.st_uid != geteuid()) {
                log_warning(restore->log, "%s: left alone: it is not the file that calibration made",
                            entry->name);
                return VERDICT_LEFT;
        }
        if (unlinkat(fd, base, 0) < 0)
                return errno == ENOENT ? VERDICT_KEPT : fail(restore, entry, -errno);
        return VERDICT_RESTORED;
}

static void judge_all(struct restore *restore)
{
        for (size_t i = 0; i < restore->journal.n; i++) {
                const struct journal_entry *entry = &restore->journal.entries[i];

                restore->verdicts[i] = entry->state == JOURNAL_FILE ? remove_scratch(restore, entry)
                                                                    : judge_setting(restore, entry);
        }
}

/*
 * Restoring one setting may change another (boost changes the limits, limits each other) to a value that is
 * not in the journal. If this is interrupted, the next restore must know it for ours.
 */
static void mark_pending(struct restore *restore)
{
        bool any = false;

        for (size_t i = 0; i < restore->journal.n; i++) {
                if (restore->verdicts[i] != VERDICT_OURS)
                        continue;
                restore->journal.entries[i].state = JOURNAL_PENDING;
                any = true;
        }
        if (any)
                /* A full disk must not stop us. */
                journal_save(&restore->journal, false, restore->path, restore->log);
}

static bool is_back(const struct restore *restore, const struct journal_entry *entry)
{
        char now[SETTING_VALUE_MAX];

        return attribute_read(restore->root_fd, entry->name, now) == 0 && strcmp(now, entry->original) == 0;
}

static void write_one(struct restore *restore, size_t i, int *error)
{
        const struct journal_entry *entry = &restore->journal.entries[i];

        if (restore->verdicts[i] == VERDICT_LATER)
                restore->verdicts[i] = judge_setting(restore, entry);
        if (restore->verdicts[i] != VERDICT_OURS)
                return;
        *error = *error != -EINPROGRESS && is_back(restore, entry)
                         ? 0 : attribute_write(restore->root_fd, entry->name, entry->original);
}

/* One pass. Returns the number of settings left; @errors: the last error of each. */
static size_t write_back(struct restore *restore, int *errors)
{
        size_t left = 0;

        for (size_t i = 0; i < restore->journal.n; i++)
                write_one(restore, i, &errors[i]);
        for (size_t i = 0; i < restore->journal.n; i++)
                left += restore->verdicts[i] == VERDICT_LATER ||
                        (restore->verdicts[i] == VERDICT_OURS &&
                         (errors[i] || !is_back(restore, &restore->journal.entries[i])));
        return left;
}

static enum verdict judge_again(const struct restore *restore, const struct journal_entry *entry, int error)
{
        char now[SETTING_VALUE_MAX];
        int err = attribute_read(restore->root_fd, entry->name, now);

        if (!err && error != -EINPROGRESS)
                err = error;
        if (err)
                return fail(restore, entry, err);
        if (strcmp(now, entry->original) &&
            !attribute_held_down(restore->root_fd, entry->name, now, entry->original)) {
                log_error(restore->log, "%s: was restored to %s but still shows %s; set it by hand",
                          entry->name, entry->original, now);
                return VERDICT_FAILED;
        }
        log_debug(restore->log, "%s: %s again", entry->name, entry->original);
        return VERDICT_RESTORED;
}

static int put_back(struct restore *restore)
{
        _cleanup_free_ int *errors = calloc(restore->journal.n + 1, sizeof(*errors));

        if (!errors)
                return -ENOMEM;
        for (size_t i = 0; i < restore->journal.n; i++)
                errors[i] = -EINPROGRESS; /* written once, even if it looks right already */
        for (int pass = 0; pass < PASSES && write_back(restore, errors) > 0; pass++)
                ;
        for (size_t i = 0; i < restore->journal.n; i++)
                if (restore->verdicts[i] == VERDICT_OURS || restore->verdicts[i] == VERDICT_LATER)
                        restore->verdicts[i] = judge_again(restore, &restore->journal.entries[i], errors[i]);
        return 0;
}

static struct restore_report count(const struct restore *restore)
{
        struct restore_report report = { 0 };

        for (size_t i = 0; i < restore->journal.n; i++) {
                report.restored += restore->verdicts[i] == VERDICT_RESTORED;
                report.kept += restore->verdicts[i] == VERDICT_KEPT;
                report.left += restore->verdicts[i] == VERDICT_LEFT;
                report.failed += restore->verdicts[i] == VERDICT_FAILED;
        }
        return report;
}

/* systemd may still restore its own saved value, if it has not yet. */
static bool may_come_back(const struct restore *restore, size_t i)
{
        const struct journal_entry *entry = &restore->journal.entries[i];

        return entry->state != JOURNAL_UNTOUCHED && entry->state != JOURNAL_FILE &&
               restore->verdicts[i] != VERDICT_LEFT && attribute_find(entry->name)->persists;
}

/* Everything is restored and will be checked once more: a value other than the original is then ours. */
static int keep_what_may_come_back(struct restore *restore, const char *boot_id, size_t *kept)
{
        struct journal *journal = &restore->journal;

        *kept = 0;
        for (size_t i = 0; i < journal->n; i++) {
                struct journal_entry entry = journal->entries[i];

                if (!may_come_back(restore, i))
                        continue;
                entry.state = JOURNAL_PENDING;
                journal->entries[(*kept)++] = entry;
        }
        journal->n = *kept;
        snprintf(journal->boot_id, sizeof(journal->boot_id), "%s", boot_id);
        return *kept ? journal_save(journal, false, restore->path, restore->log)
                     : journal_remove(restore->path, restore->log);
}

/*
 * At shutdown systemd saves radios and brightness, perhaps before they were restored, and restores that at
 * the next boot, perhaps after we looked. So the journal survives a shutdown, and the first look after a
 * boot.
 */
static int finish(struct restore *restore, const char *boot_id)
{
        bool booting = restore->rebooted && uptime_s(restore->root_fd) < PROBING_S;
        size_t kept;
        int err;

        if (!booting && !shutdown_is_under_way(restore->root_fd))
                return journal_remove(restore->path, restore->log);
        err = keep_what_may_come_back(restore, boot_id, &kept);
        return !err && booting && kept ? -EAGAIN : err;
}

static int restore_all(struct restore *restore, struct restore_report *report)
{
        char boot_id[JOURNAL_BOOT_MAX];
        int err;

        restore->verdicts = calloc(restore->journal.n + 1, sizeof(*restore->verdicts));
        if (!restore->verdicts)
                return -ENOMEM;
        journal_boot_id(restore->root_fd, boot_id);
        restore->rebooted = strcmp(boot_id, restore->journal.boot_id) != 0;
        judge_all(restore);
        mark_pending(restore);
        err = put_back(restore);
        *report = count(restore);
        if (!err && report->failed)
                err = -EIO;
        return err ? err : finish(restore, boot_id);
}

int settings_restore(int root_fd, const char *journal, const struct log *log, struct restore_report *ret)
{
        struct restore restore = { .root_fd = root_fd, .path = journal, .log = log };
        int err;

        *ret = (struct restore_report){ 0 };
        if (access(journal, F_OK) < 0 && errno == ENOENT)
                return 0;
        err = settings_lock(journal, log);
        if (err)
                return err;
        err = journal_load(journal, log, &restore.journal);
        if (err == -EBADMSG)
                log_error(log,
                          "%s: damaged, so it is not used; restore by hand what it lists and remove it, "
                          "then calibrations can start again",
                          journal);
        if (!err)
                err = restore_all(&restore, ret);
        free(restore.verdicts);
        journal_clear(&restore.journal);
        settings_unlock();
        return err == -ENOENT ? 0 : err;
}
