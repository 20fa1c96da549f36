package dev.throng;

import dev.throng.Message.Answer;
import dev.throng.Message.Need;
import org.apache.jmeter.control.GenericController;
import org.apache.jmeter.engine.event.LoopIterationEvent;
import org.apache.jmeter.engine.event.LoopIterationListener;
import org.apache.jmeter.control.LoopController;
import org.apache.jmeter.samplers.Sampler;

/**
 * Represents a native controller that is a child of a controller in Java. It receives notices of iterations for its
 * native children, and forwards all calls to native code.
 */
public final class GivenController extends GenericController implements LoopIterationListener {
    private static final long serialVersionUID = 1L;
    private static final int[] NOTHING = {Answer.NOTHING, 0};

    private final transient User user;
    private final int id;
    /** The state from the last answer: 1 if the controller has no more samplers, −1 if native code must be asked. */
    private int done = -1;

    GivenController(User user, int id) {
        this.user = user;
        this.id = id;
    }

    private int[] ask(int what, int number) {
        done = -1;
        // Outside of a question, native code cannot be asked.
        Question question = user.questions.peekLast();
        return question == null ? NOTHING : question.ask(what, number);
    }

    @Override
    public Sampler next() {
        int[] answer = ask(Need.NEXT, id);
        if (answer[0] == Answer.NOTHING) {
            done = answer[1];
            return null;
        }
        return user.given(answer[0], answer[1]);
    }

    @Override
    public boolean isDone() {
        int known = done;
        return (known < 0 ? ask(Need.IS_DONE, id)[1] : known) == 1;
    }

    @Override
    public void initialize() {
        ask(Need.INITIALIZE, id);
    }

    @Override
    public void triggerEndOfLoop() {
        ask(Need.END_OF_LOOP, id);
    }

    @Override
    public void iterationStart(LoopIterationEvent event) {
        boolean fromOne = event.getSource() instanceof LoopController;
        ask(fromOne ? Need.BEGINS_FROM_ONE : Need.BEGINS, event.getIteration());
    }
}
