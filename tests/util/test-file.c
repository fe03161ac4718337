/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Files that are replaced as a whole, also where another user exchanges them, and where a writer is killed. */

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "check.h"
#include "child.h"
#include "store/store.h"
#include "util/own-folder.h"
#include "util/safe-folder.h"
#include "util/util.h"

#define NOBODY 65534
#define TRIES 200

static char root[] = "/tmp/joulecast-file-XXXXXX";

/* The library's system calls in order: "fsync file, rename, fsync folder, ". */
static char calls[256];

static void note(const char *call)
{
        snprintf(calls + strlen(calls), sizeof(calls) - strlen(calls), "%s, ", call);
}

int fsync(int fd)
{
        struct stat status;

        note(fstat(fd, &status) == 0 && S_ISDIR(status.st_mode) ? "fsync folder" : "fsync file");
        return (int)syscall(SYS_fsync, fd);
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
        note("rename");
        return (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, 0);
}

static char *in_root(const char *name)
{
        static char paths[4][128];
        static size_t next;
        char *path = paths[next++ % ARRAY_SIZE(paths)];

        snprintf(path, sizeof(paths[0]), "%s/%s", root, name);
        return path;
}

static void make(const char *name, const char *text)
{
        int fd = open(in_root(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        check(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
        close(fd);
}

static const char *text_of(const char *name)
{
        static char text[64];

        text[0] = '\0';
        util_read_at(AT_FDCWD, in_root(name), text, sizeof(text));
        return text;
}

static int put(const char *name, const char *text)
{
        return util_write_file(in_root(name), text, strlen(text), 0640);
}

static void it_is_on_the_disk_before_it_is_renamed(void)
{
        struct stat status;

        make("file", "old");
        calls[0] = '\0';
        check_int(put("file", "new"), 0);
        check_text(calls, "fsync file, rename, fsync folder, ");
        check_text(text_of("file"), "new");
        check(stat(in_root("file"), &status) == 0 && (status.st_mode & 07777) == 0640);
        check_int(put("missing/file", "new"), -ENOENT);
        check_int(util_write_file("", "", 0, 0600), -ENOENT);
        check_int(put("", "new"), -EISDIR);
        check_int(util_try_write_file(in_root("missing/file")), -ENOENT);
        check_int(util_try_write_file(root), -EISDIR);
        check_int(util_try_write_file(in_root("trial")), 0);
        check(access(in_root("trial"), F_OK) < 0);
}

/* A link at its place is replaced; one on the way to it is followed where only we could place it. */
static void links(void)
{
        struct stat status;
        struct safe_folder folder;

        make("target", "target");
        check_int(symlink("target", in_root("link")), 0);
        check_int(put("link", "own"), 0);
        check(lstat(in_root("link"), &status) == 0 && S_ISREG(status.st_mode));
        check_text(text_of("target"), "target");
        check(mkdir(in_root("d"), 0700) == 0 && symlink("./d/../d", in_root("to-d")) == 0);
        check_int(put("to-d/file", "there"), 0);
        check_text(text_of("d/file"), "there");
        check_int(safe_folder_open(in_root("to-d//file"), 0, &folder), 0);
        check_text(folder.path, in_root("d/file"));
        safe_folder_close(&folder);
        check_int(symlink("round", in_root("round")), 0);
        check_int(put("round/file", "x"), -ELOOP);
        check_int(put("target/file", "x"), -ENOTDIR);
}

/* Our own descriptors are written to, and not replaced as files: "--truth /dev/stdout > FILE". */
static void descriptors(void)
{
        int ends[2];
        char path[32], text[8] = "";

        check_int(pipe(ends), 0);
        snprintf(path, sizeof(path), "/dev/fd/%d", ends[1]);
        check_int(util_write_file(path, "text", 4, 0600), 0);
        check_int(read(ends[0], text, sizeof(text) - 1), 4);
        check_text(text, "text");
        close(ends[0]);
        close(ends[1]);
        check_int(util_write_file("/dev/null", "text", 4, 0600), 0);
}

static void what_a_killed_writer_left_is_removed(void)
{
        int held;

        make("p.ini", "old");
        make("p.ini.tmp-0123abcd", "left");
        make("p.ini.tmp-0123abce", "being written");
        make("p.ini.tmp-0123", "no name of ours");
        make("other.ini.tmp-0123abcd", "another's");
        held = open(in_root("p.ini.tmp-0123abce"), O_RDONLY | O_CLOEXEC);
        check(held >= 0 && flock(held, LOCK_EX) == 0);
        check_int(put("p.ini", "new"), 0);
        check(access(in_root("p.ini.tmp-0123abcd"), F_OK) < 0);
        check_text(text_of("p.ini.tmp-0123abce"), "being written");
        check_text(text_of("p.ini.tmp-0123"), "no name of ours");
        check_text(text_of("other.ini.tmp-0123abcd"), "another's");
        close(held);
        check_int(put("p.ini", "newer"), 0);
        check(access(in_root("p.ini.tmp-0123abce"), F_OK) < 0);
        check_text(text_of("p.ini"), "newer");
}

/* Writers that are killed in the middle leave the old or the new text, and at the end no other file. */
static void kills(void)
{
        static char texts[2][1 << 16];

        memset(texts[0], 'a', sizeof(texts[0]));
        memset(texts[1], 'b', sizeof(texts[1]));
        check_int(mkdir(in_root("kills"), 0700), 0);
        check_int(util_write_file(in_root("kills/file"), texts[0], sizeof(texts[0]), 0600), 0);
        for (int i = 0; i < 40; i++) {
                pid_t pid = start_child();

                if (pid == 0)
                        for (unsigned k = 0;; k++)
                                util_write_file(in_root("kills/file"), texts[k % 2], sizeof(texts[0]), 0600);
                usleep((unsigned)i * 300);
                check(end_child(pid));
        }
        check_int(util_write_file(in_root("kills/file"), texts[1], sizeof(texts[1]), 0600), 0);
        check_int(unlink(in_root("kills/file")), 0);
        check_int(rmdir(in_root("kills")), 0);
}

static void folders_of_others_are_refused(void)
{
        static const struct {
                uid_t uid;
                gid_t gid;
                mode_t mode;
                int file, database;
        } cases[] = {
                { 0, 0, 0755, 0, 0 },
                { 0, 0, 0775, 0, 0 }, /* root's own group */
                { 0, NOBODY, 0755, 0, 0 },
                { 0, NOBODY, 0775, -ENOLINK, -ENOLINK },
                { 0, 0, 0757, -ENOLINK, -ENOLINK },
                { 0, 0, 01777, 0, 0 },
                { NOBODY, 0, 0755, -ENOLINK, -ENOLINK },
                { NOBODY, NOBODY, 01777, -ENOLINK, -ENOLINK },
        };

        check_int(mkdir(in_root("case"), 0700), 0);
        check_int(mkdir(in_root("case/below"), 0700), 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_free_ char *path = NULL;

                check_int(chown(in_root("case"), cases[i].uid, cases[i].gid), 0);
                check_int(chmod(in_root("case"), cases[i].mode), 0);
                check_int(put("case/file", "x"), cases[i].file);
                check_int(put("case/below/file", "x"), cases[i].file);
                check_int(safe_folder_database(in_root("case/usage.db"), &path), cases[i].database);
                check_int(util_make_parent(in_root("case/new/file"), 0700), cases[i].file);
                check_int(access(in_root("case/new"), F_OK), cases[i].file ? -1 : 0);
                rmdir(in_root("case/new"));
        }
        check(chown(in_root("case"), 0, 0) == 0 && chmod(in_root("case"), 0755) == 0);
        for (size_t i = 0; i < 4; i++) {
                static const char *const names[] = { "case/usage.db", "case/usage.db-wal", "case/usage.db-shm",
                                                     "case/usage.db-journal" };
                _cleanup_free_ char *path = NULL;

                check_int(symlink("elsewhere", in_root(names[i])), 0);
                check_int(safe_folder_database(in_root("case/usage.db"), &path), -ELOOP);
                check_int(unlink(in_root(names[i])), 0);
                make(names[i], "");
                check_int(chown(in_root(names[i]), NOBODY, NOBODY), 0);
                check_int(safe_folder_database(in_root("case/usage.db"), &path), -EPERM);
                check_int(unlink(in_root(names[i])), 0);
        }
        /* In a folder like /tmp, a file of another user is detected before a night is spent. */
        make("case/file", "");
        check(chown(in_root("case/file"), NOBODY, NOBODY) == 0 && chmod(in_root("case"), 01777) == 0);
        check_int(util_try_write_file(in_root("case/file")), -EPERM);
        check(strstr(own_folder_why(-EPERM), "another user's file") != NULL);
}

/*
 * Writes as a user in a user namespace of its own, where uid 0 is not mapped, and root's folders seem to belong to
 * nobody.
 */
static int write_in_a_sandbox(uid_t uid)
{
        static const char map[] = "/proc/self/uid_map";
        char line[64];
        int fd, length = snprintf(line, sizeof(line), "%u %u 1", uid, uid);

        if (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0)
                return 1;
        prctl(PR_SET_DUMPABLE, 1);
        if (unshare(CLONE_NEWUSER) < 0)
                return 77;
        fd = open(map, O_WRONLY | O_CLOEXEC);
        if (fd < 0 || write(fd, line, (size_t)length) != length)
                return 77;
        return put("sandbox/file", "x") < 0;
}

static void sandboxes_may_write(void)
{
        const uid_t uid = NOBODY - 1;
        int status = -1;
        pid_t pid;

        check(chmod(root, 0755) == 0 && mkdir(in_root("sandbox"), 0755) == 0);
        check_int(chown(in_root("sandbox"), uid, uid), 0);
        pid = start_child();
        if (pid == 0)
                _exit(write_in_a_sandbox(uid));
        check(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
        if (WEXITSTATUS(status) == 77)
                printf("skipped: a sandbox, as this kernel gives users no namespaces\n");
        else
                check_int(WEXITSTATUS(status), 0);
}

/* Runs as the other user, and replaces the files behind the names again and again. */
static void exchange(void)
{
        check(setgroups(0, NULL) == 0 && setresgid(NOBODY, NOBODY, NOBODY) == 0 &&
              setresuid(NOBODY, NOBODY, NOBODY) == 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;) {
                static const char *const places[] = { "theirs/file",
                                                      "theirs/usage.db",
                                                      "shared/file",
                                                      "theirs/usage.db-wal",
                                                      "shared/usage.db",
                                                      "shared/usage.db-wal",
                                                      "shared/usage.db-journal",
                                                      "shared/usage.db-lock" };

                for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
                        unlink(in_root(places[i]));
                        if (!strstr(places[i], "shared/usage.db")) /* SQLite would wait for a writer */
                                mkfifo(in_root(places[i]), 0666);
                        unlink(in_root(places[i]));
                        if (symlink(in_root("victim/file"), in_root(places[i])) < 0)
                                continue;
                        unlink(in_root(places[i]));
                        close(open(in_root(places[i]), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
                }
                rename(in_root("shared/folder"), in_root("shared/away"));
                if (symlink(in_root("victim"), in_root("shared/folder")) == 0)
                        unlink(in_root("shared/folder"));
                rename(in_root("shared/away"), in_root("shared/folder"));
        }
}

static void nobody_leads_root_elsewhere(void)
{
        struct store *store;
        pid_t pid;

        check(chmod(root, 0755) == 0 && mkdir(in_root("victim"), 0700) == 0);
        make("victim/file", "untouched");
        check(mkdir(in_root("theirs"), 0755) == 0 && chown(in_root("theirs"), NOBODY, NOBODY) == 0);
        check(mkdir(in_root("shared"), 0700) == 0 && chmod(in_root("shared"), 01777) == 0);
        check(mkdir(in_root("shared/folder"), 0755) == 0 && chown(in_root("shared/folder"), NOBODY, NOBODY) == 0);
        pid = start_child();
        if (pid == 0)
                exchange();
        for (int i = 0; i < TRIES; i++) {
                put("theirs/file", "overwritten");
                put("shared/file", "overwritten");
                unlink(in_root("shared/file"));
                put("shared/folder/file", "overwritten");
                if (store_open(in_root("theirs/usage.db"), STORE_WRITE, NULL, &store) == 0)
                        store_close(store);
                if (store_open(in_root("shared/usage.db"), STORE_WRITE, NULL, &store) == 0)
                        store_close(store);
                if (store_open(in_root("shared/folder/file"), STORE_WRITE, NULL, &store) == 0)
                        store_close(store);
        }
        check(end_child(pid));
        check_text(text_of("victim/file"), "untouched");
        check_int(unlink(in_root("victim/file")), 0);
        check_int(rmdir(in_root("victim")), 0); /* no other file is beside it */
}

static void remove_all(void)
{
        char command[64];

        snprintf(command, sizeof(command), "rm -rf %s", root);
        check_int(system(command), 0);
}

/* A process whose mapped file is truncated reports that, and is not killed by a signal. */
static void a_shorter_file_is_a_sentence(void)
{
        char said[200] = "";
        int ends[2], status = 0;
        pid_t child;

        check_int(pipe2(ends, O_CLOEXEC), 0);
        child = fork();
        if (child == 0) {
                int fd = memfd_create("cut", MFD_CLOEXEC);
                const volatile char *at;

                dup2(ends[1], STDERR_FILENO);
                util_end_on_shorter_files();
                if (ftruncate(fd, 8192) < 0)
                        _exit(99);
                at = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 0);
                if (ftruncate(fd, 0) < 0)
                        _exit(98);
                _exit(at[4096] + 97);
        }
        close(ends[1]);
        check_int(waitpid(child, &status, 0), child);
        check(WIFEXITED(status) && WEXITSTATUS(status) == 1);
        check(read(ends[0], said, sizeof(said) - 1) > 0);
        check(strstr(said, "became shorter") != NULL);
        close(ends[0]);
}

int main(void)
{
        check(mkdtemp(root) != NULL);
        a_shorter_file_is_a_sentence();
        it_is_on_the_disk_before_it_is_renamed();
        links();
        descriptors();
        what_a_killed_writer_left_is_removed();
        kills();
        if (geteuid() == 0) {
                folders_of_others_are_refused();
                sandboxes_may_write();
                nobody_leads_root_elsewhere();
        } else {
                printf("skipped: exchanges by another user, which need root\n");
        }
        remove_all();
        return check_result();
}
