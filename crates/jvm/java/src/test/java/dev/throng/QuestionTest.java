package dev.throng;

import dev.throng.Message.Act;
import dev.throng.Message.Status;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Tests controllers that run by their Java class: their replies, their notices, and suspended questions. */
class QuestionTest {
    private static final int[] NONE = {};

    /** Asks for the next sampler, with this number of open questions around it, after the given notices. */
    private static Play.Reply next(Play.Job job, int element, int depth, int... told) {
        int[] words = new int[5 + told.length];
        words[0] = element;
        words[1] = depth;
        System.arraycopy(told, 0, words, 5, told.length);
        return job.run(Act.CONTROLLER, words);
    }

    private static Play.Reply goOn(Play.Job job, int element, int depth, int kind, int number) {
        return job.run(Act.CONTROLLER, element, depth, 1, kind, number);
    }

    @Test
    void childrenAreGivenInTurnAndHaveNames() {
        Play play = new Play().slots("v", "picked");
        int id = play.controller(Picking.class, false, 4, 7);
        play.start();
        assertEquals(List.of(), play.findings);
        Play.Reply first = next(play.job().with("v", "A"), id, 0, id, 1, 0);
        assertEquals("1 4", first.said);
        assertEquals("child A 4 on group 1-1 1", first.vars.get("picked"));
        assertEquals(List.of("3 dev.throng.Picking: picked"), first.log);
        Play.Reply second = next(play.job().with("v", "B"), id, 0, id, 2, 0, id, 3, 0, id, 4, 0, id, 5, 3, id, 5, 4);
        assertEquals("1 7", second.said);
        assertEquals("child B 7 on group 1-1 2 end next break LoopController1 GenericController2", second.vars.get("picked"));
        assertEquals("0 0", next(play.job(), id, 0).said);
        // Another user has a separate object.
        assertEquals("1 4", next(play.job().of(2), id, 0, id, 1, 0).said);
        assertEquals("1 4", next(play.job(), id, 0).said);
    }

    @Test
    void aQuestionStandsStillForItsChildrenAndOthersRunMeanwhile() throws Exception {
        Play play = new Play().slots("v", "picked");
        int outer = play.controller(Picking.class, true, -3, 7);
        int inner = play.controller(Picking.class, false, 9);
        int text = play.text("${v}");
        play.start();
        Play.Job job = play.job().with("v", "A");
        // The controller and its child are initialised; then the controller's iteration begins.
        assertEquals("3 1 3", next(job, outer, 0, outer, 1, 0).said);
        assertEquals("3 4 0", goOn(job, outer, 0, 0, 0).said);
        assertEquals("3 0 3", goOn(job, outer, 0, 0, 0).said);
        // In the meantime, another job of the user runs, and a controller below the child is asked.
        assertEquals(List.of("A"), play.job().with("v", "A").run(Act.EVALUATE, text).texts);
        assertEquals("1 9", next(job, inner, 1, inner, 1, 0).said);
        ExecutorService other = Executors.newSingleThreadExecutor();
        Play.Reply given = other.submit(() -> goOn(job, outer, 0, 1, 9)).get();
        assertEquals("1 9", given.said);
        assertTrue(given.vars.get("picked").endsWith("on group 1-1 2"), given.vars.get("picked"));
        assertEquals(List.of("3 dev.throng.Picking: picked"), given.log);
        other.shutdown();
        // The child has no more samplers and is done, so it is not asked again.
        assertEquals("3 0 3", next(job, outer, 0).said);
        assertEquals("1 7", goOn(job, outer, 0, 0, 1).said);
        assertEquals("0 0", next(job, outer, 0).said);
        assertEquals("3 4 1", next(job, outer, 0).said);
        assertEquals("1 7", goOn(job, outer, 0, 0, 0).said);
    }

    @Test
    void questionsOfUsersThatEndAreGivenUp() throws Exception {
        Play play = new Play().slots("v", "picked");
        int id = play.controller(Picking.class, false, -3);
        play.start();
        assertEquals("3 0 3", next(play.job().of(5), id, 0).said);
        Question open = Host.test().users.get(5L).questions.getLast();
        assertEquals(0, play.end(5).status);
        for (int i = 0; i < 1000 && !open.isOver(); i++) {
            Thread.sleep(10);
        }
        assertTrue(open.isOver());
        // A question that native code has abandoned is dropped at the next question.
        assertEquals("3 0 3", next(play.job().of(6), id, 0).said);
        assertEquals("3 0 3", next(play.job().of(6), id, 0).said);
        assertEquals(1, Host.test().users.get(6L).questions.size());
    }

    @Test
    void whatThrowsEndsTheUserAndWhatBlocksIsInterrupted() throws Exception {
        for (int[] children : new int[][] {{4}, {4, -3}}) {
            Play play = new Play().slots("wish", "picked");
            int id = play.controller(Picking.class, false, children);
            play.start();
            assertEquals("1 -1", next(play.job().with("wish", "own"), id, 0).said);
            Play.Reply error = next(play.job().with("wish", "overflow"), id, 0);
            assertEquals(Status.FATAL, error.status);
            ExecutorService pool = Executors.newSingleThreadExecutor();
            Future<Play.Reply> blocked = pool.submit(() -> next(play.job().of(8).with("wish", "sleep"), id, 0));
            while (!blocked.isDone()) {
                Output out = new Output();
                out.u8(Message.Kind.INTERRUPT);
                out.i64(8);
                out.bool(false);
                Host.call(out.take());
                Thread.sleep(20);
            }
            assertEquals(Status.ABANDONED, blocked.get().status);
            assertTrue(blocked.get().log.get(0).contains("Test failed!"), blocked.get().log.toString());
            pool.shutdown();
        }
    }

    @Test
    void aClassThatIsNoControllerIsAFinding() {
        Play play = new Play().slots("v");
        play.controller(Counting.class, false, NONE);
        play.setup();
        assertEquals(List.of("1 0 0 class dev.throng.Counting is not a Controller"), play.findings);
    }
}
